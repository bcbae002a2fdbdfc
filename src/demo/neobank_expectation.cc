#include "demo/neobank_expectation.h"

#include <algorithm>
#include <numeric>

namespace caudal {

std::string_view NeobankFateName(NeobankFate fate) {
  switch (fate) {
    case NeobankFate::kPublished:
      return "published";
    case NeobankFate::kStatusFiltered:
      return "filtered{status_completed}";
    case NeobankFate::kAmountFiltered:
      return "filtered{amount_positive}";
    case NeobankFate::kLate:
      return "late";
    case NeobankFate::kDuplicate:
      return "duplicate";
    case NeobankFate::kMalformed:
      return "malformed";
    case NeobankFate::kContract:
      return "contract";
  }
  return "";
}

uint64_t NeobankExpectation::events() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

NeobankFate NeobankExpectation::Observe(const NeobankEvent& event, const Place& place) {
  int64_t& clock_ms = clocks_ms_[place.partition];
  const NeobankFate fate = Decide(event, clock_ms);
  ++counts_[static_cast<size_t>(fate)];
  if (fate == NeobankFate::kPublished) {
    Publish(event);
  } else {
    rejected_.push_back({place.part, fate, place.offset});
  }
  // After the decision: a row is judged by the clock before it.
  if (event.defect == NeobankDefect::kNone) {
    clock_ms = std::max(clock_ms, event.timestamp_ms - watermark_delay_ms_);
  }
  return fate;
}

NeobankFate NeobankExpectation::Decide(const NeobankEvent& event, int64_t clock_ms) {
  switch (event.defect) {
    case NeobankDefect::kNone:
      break;
    case NeobankDefect::kNullField:
    case NeobankDefect::kMissingField:
      return NeobankFate::kContract;
    default:
      return NeobankFate::kMalformed;
  }
  if (event.status != kNeobankCompleted) return NeobankFate::kStatusFiltered;
  if (event.cents <= 0) return NeobankFate::kAmountFiltered;
  if (event.timestamp_ms <= clock_ms) return NeobankFate::kLate;
  if (IsDuplicate(event, clock_ms)) return NeobankFate::kDuplicate;
  return NeobankFate::kPublished;
}

// Ids beyond retain stay: that one came back is counted, and the figure is worth its memory.
bool NeobankExpectation::IsDuplicate(const NeobankEvent& event, int64_t clock_ms) {
  const auto [time_ms, is_new] = first_ms_.FindOrAdd(event.id_high, event.id_low, event.timestamp_ms);
  if (is_new) return false;
  if (clock_ms < *time_ms + retain_ms_) return true;
  *time_ms = event.timestamp_ms;
  ++published_again_;
  return false;
}

void NeobankExpectation::Publish(const NeobankEvent& event) {
  char line[NeobankText::kLongestLine];
  const char* end = text_.PutRow(line, event);
  constexpr size_t kUuidLength = 36;
  silver_.Add({line, static_cast<size_t>(end - line)});
  silver_ids_.Add({line, kUuidLength});
  silver_cents_ += event.cents;
  NeobankPartition& partition = partitions_[event.timestamp_ms / 3'600'000];
  ++partition.rows;
  partition.cents += event.cents;
  features_.Add(event);
  if (on_published) on_published(event);
}

}  // namespace caudal
