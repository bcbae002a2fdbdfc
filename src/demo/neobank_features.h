// NeobankFeatures: what the hot features of each account must be, HOP(1 hour by 1 minute), worked out at the
// end from the published rows. One thread; 16 bytes a row.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "demo/neobank_event.h"

namespace caudal {

// One window of one account with at least one row in it.
struct NeobankFeature {
  uint32_t account;
  int64_t window_end_ms;
  int64_t count;
  int64_t cents;
  // AVG of DECIMAL(18,2) is DECIMAL(38,6), rounded half up: this is its unscaled value.
  int64_t average_millionths;
  int64_t distinct_merchants;  // exact
};

class NeobankFeatures {
 public:
  static constexpr int64_t kSlideMs = 60'000;
  static constexpr int64_t kWindowSlides = 60;

  using Visitor = std::function<void(const NeobankFeature&)>;

  // REQUIRES: the row is published: an amount of 1 to 2^32 - 1 cents, a time after 1970.
  void Add(const NeobankEvent& event);
  // Every window, ordered by account, then end: the table with key (account_id, window_end).
  void ForEachWindow(const Visitor& visit);
  // The newest window of each account, ordered by account: the table with key account_id.
  void ForEachLatest(const Visitor& visit);

 private:
  struct Row {
    uint32_t account;
    uint32_t minute;  // since 1970
    uint32_t merchant;
    uint32_t cents;
  };

  void Sort();
  // The windows of the account whose rows are [first, last).
  void VisitAccount(const Row* first, const Row* last, const Visitor& visit);

  std::vector<Row> rows_;
  bool sorted_ = true;
  std::vector<uint32_t> merchant_rows_;  // rows of each merchant in the window at hand; all 0 in between
};

}  // namespace caudal
