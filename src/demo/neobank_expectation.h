// NeobankExpectation: what a correct pipeline must make of the stream. It is shown each transaction as meant,
// in order of arrival, and applies the published rules on its own; it shares no code with the engine. One
// thread.
//
// Fates, the first that applies counts: malformed, contract, filtered{status_completed},
// filtered{amount_positive}, late, duplicate, published. The clock before a row is the newest timestamp of
// the rows before it minus the watermark delay; malformed and contract-breaking rows do not move it, filtered
// ones do. A row is late when its timestamp is not after the clock. It is a duplicate when its id was
// published before and the clock is before that row's timestamp + retain; else it is published, and is the
// row to compare the next one with. Each partition has a clock of its own, and an id always comes in the same
// one, so that how partitions interleave changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demo/neobank_event.h"
#include "demo/neobank_features.h"
#include "demo/neobank_ids.h"
#include "demo/neobank_options.h"
#include "demo/neobank_text.h"
#include "demo/row_digest.h"

namespace caudal {

enum class NeobankFate : uint8_t {
  kPublished,
  kStatusFiltered,
  kAmountFiltered,
  kLate,
  kDuplicate,
  kMalformed,
  kContract,
};
inline constexpr int kNeobankFates = 7;
// "published", "filtered{status_completed}", "late", …
std::string_view NeobankFateName(NeobankFate fate);

// A row that was not published, and where it stands.
struct NeobankRejected {
  uint32_t part;  // the number of its file or partition
  NeobankFate fate;
  uint64_t offset;  // of its first byte in the file, or of the record in the partition
};

struct NeobankPartition {
  uint64_t rows = 0;
  int64_t cents = 0;
};

class NeobankExpectation {
 public:
  explicit NeobankExpectation(const NeobankOptions& options)
      : watermark_delay_ms_(options.watermark_delay_ms),
        retain_ms_(options.retain_ms),
        clocks_ms_(options.partitions, kNoClock),
        first_ms_(options.events) {}

  // Told for each published row; not called unless set.
  std::function<void(const NeobankEvent&)> on_published;

  // Makes a soon Observe of the row quicker.
  void Prefetch(const NeobankEvent& event) const { first_ms_.Prefetch(event.id_high, event.id_low); }
  // The next row, and where it stands.
  struct Place {
    uint32_t partition;  // whose clock it is judged by; 0 for files
    uint32_t part;
    uint64_t offset;
  };
  // Decides its fate.
  NeobankFate Observe(const NeobankEvent& event, const Place& place);

  uint64_t events() const;  // the sum of all fates
  uint64_t count(NeobankFate fate) const { return counts_[static_cast<size_t>(fate)]; }
  uint64_t published_again() const { return published_again_; }  // rows whose id had been published before
  // In order of arrival, without the published ones.
  const std::vector<NeobankRejected>& rejected() const { return rejected_; }

  // Silver, the rows as NeobankText::PutRow writes them.
  const RowDigest& silver() const { return silver_; }
  const RowDigest& silver_ids() const { return silver_ids_; }  // of transaction_id alone
  int64_t silver_cents() const { return silver_cents_; }
  // By hours since 1970, the partition's date and hour.
  const std::map<int64_t, NeobankPartition>& silver_partitions() const { return partitions_; }

  NeobankFeatures& features() { return features_; }

 private:
  NeobankFate Decide(const NeobankEvent& event, int64_t clock_ms);
  // Whether the id was published within retain; if not, remembers it.
  bool IsDuplicate(const NeobankEvent& event, int64_t clock_ms);
  void Publish(const NeobankEvent& event);

  static constexpr int64_t kNoClock = std::numeric_limits<int64_t>::min();

  const int64_t watermark_delay_ms_;
  const int64_t retain_ms_;
  std::vector<int64_t> clocks_ms_;  // by partition
  std::array<uint64_t, kNeobankFates> counts_{};
  uint64_t published_again_ = 0;
  NeobankIds first_ms_;
  std::vector<NeobankRejected> rejected_;
  RowDigest silver_;
  RowDigest silver_ids_;
  int64_t silver_cents_ = 0;
  std::map<int64_t, NeobankPartition> partitions_;
  NeobankFeatures features_;
  NeobankText text_;
};

}  // namespace caudal
