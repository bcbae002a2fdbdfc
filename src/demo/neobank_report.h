// NeobankReport: an expectation as text, for scripts that compare it with what a pipeline left behind.
//
// The functions hand finished pieces of text, whole lines, to `write` and stop at its first error. Tables are
// tab-separated with a header line; times are 2025-03-03 09:00:00.000.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "demo/neobank_expectation.h"

namespace caudal {

using TextSink = std::function<Status(std::string_view)>;

// Which features table is meant: the key is (account_id, window_end) or account_id.
enum class NeobankFeatureTable { kEveryWindow, kLatest };

// One JSON object: events, fates, silver (totals, digests, partitions), features (totals and digests of both
// tables). A feature's digest is over lines account_id, window_end, txn_count_1h, avg_amount_1h; distinct
// merchants are approximate in a pipeline and so no part of it.
std::string NeobankExpectationJson(NeobankExpectation* expectation);

// account_id, window_start, window_end, txn_count_1h, sum_amount_1h, avg_amount_1h, distinct_merchants_1h
// (exact).
Status WriteNeobankFeatures(NeobankExpectation* expectation, NeobankFeatureTable table,
                            const TextSink& write);

// file, offset, fate of each row that was not published; with `dead_letters_only`, malformed, contract and
// late. `name_of` says how a file or partition is called by its number.
Status WriteNeobankRejected(const NeobankExpectation& expectation, bool dead_letters_only,
                            const std::function<std::string(uint32_t)>& name_of, const TextSink& write);

}  // namespace caudal
