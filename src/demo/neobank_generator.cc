#include "demo/neobank_generator.h"

#include <algorithm>
#include <cmath>

namespace caudal {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kMostDisorder = kMinute;  // ordinary rows are at most this much out of order
constexpr int64_t kMostRepeatDelay = 4 * kMinute;
constexpr int64_t kBrokenRowLead = 30 * kMinute;
constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

uint64_t Mix(uint64_t z) {  // the finaliser of SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t LimitOf(double share) { return static_cast<uint64_t>(std::llround(share * 0x1p53)); }

}  // namespace

// The random numbers of one row: SplitMix64 from a state that its index decides.
class NeobankGenerator::Draws {
 public:
  Draws(uint64_t start_state, uint64_t index) : state_(Mix(start_state + index * kGoldenRatio)) {}

  uint64_t Next() { return Mix(state_ += kGoldenRatio); }
  uint64_t Share() { return Next() >> 11; }  // to be compared with LimitOf
  uint64_t Below(uint64_t n) { return static_cast<uint64_t>((static_cast<__uint128_t>(Next()) * n) >> 64); }
  // The square and the cube of an even share: small numbers come far more often, as busy accounts and small
  // amounts do.
  uint64_t SquareBelow(uint64_t n) {
    const uint64_t u = Next() >> 32;
    return ((u * u >> 32) * n) >> 32;
  }
  uint64_t CubeBelow(uint64_t n) {
    const uint64_t u = Next() >> 32;
    return (((u * u >> 32) * u >> 32) * n) >> 32;
  }

 private:
  uint64_t state_;
};

NeobankGenerator::NeobankGenerator(const NeobankOptions& options)
    : options_(options),
      start_state_(Mix(options.seed * kGoldenRatio + 1)),
      not_completed_limit_(LimitOf(options.not_completed)),
      not_positive_limit_(LimitOf(options.not_positive)) {
  // In the order of Kind.
  const double shares[] = {options.malformed,    options.broken,  options.late,    options.duplicates,
                           options.late_retries, options.settled, options.at_clock};
  double sum = 0;
  for (int i = 0; i < 7; ++i) kind_limits_[i] = LimitOf(sum += shares[i]);
}

NeobankGenerator::Kind NeobankGenerator::KindOf(uint64_t index) const {
  const uint64_t share = Draws(start_state_, index).Share();
  if (share >= kind_limits_[6]) return Kind::kOrdinary;
  int kind = 0;
  while (share >= kind_limits_[kind]) ++kind;
  return static_cast<Kind>(kind);
}

int64_t NeobankGenerator::Progress(uint64_t index) const {
  const double elapsed = static_cast<double>(index) * 1000 / options_.events_per_second_of_event_time;
  return options_.start_ms + static_cast<int64_t>(elapsed);
}

uint64_t NeobankGenerator::RowsIn(int64_t event_time_ms) const {
  return static_cast<uint64_t>(static_cast<double>(event_time_ms) * options_.events_per_second_of_event_time /
                               1000);
}

NeobankEvent NeobankGenerator::Ordinary(uint64_t index) const {
  Draws draws(start_state_, index + (uint64_t{1} << 63));  // not the numbers that the row's kind uses
  NeobankEvent event{};
  event.id_high = (draws.Next() & ~uint64_t{0xf000}) | 0x4000;  // a version 4 UUID
  event.id_low = (draws.Next() >> 2) | (uint64_t{1} << 63);
  event.account = static_cast<uint32_t>(draws.SquareBelow(options_.accounts));
  event.merchant = static_cast<uint32_t>(draws.SquareBelow(options_.merchants));
  event.cents = 1 + static_cast<int64_t>(draws.CubeBelow(500'000));
  // Most rows are nearly in order.
  const uint64_t disorder = draws.Next();
  event.timestamp_ms = Progress(index) - static_cast<int64_t>((disorder & 0xffffffff) %
                                                              (disorder >> 62 ? 2'000 : kMostDisorder));

  uint64_t bits = draws.Next();
  const auto take = [&bits](uint32_t n) {
    const uint32_t value = static_cast<uint32_t>(bits & 0xfff) * n >> 12;
    bits >>= 12;
    return static_cast<uint8_t>(value);
  };
  event.currency = take(kNeobankCurrencies.size());
  event.channel = take(kNeobankChannels.size());
  event.country = take(kNeobankCountries.size());
  event.category = take(kNeobankCategories.size());
  if (draws.Share() < not_completed_limit_) {
    event.status = static_cast<uint8_t>(1 + draws.Below(kNeobankStatuses.size() - 1));
  }
  if (draws.Share() < not_positive_limit_) event.cents = draws.Below(4) == 0 ? 0 : -event.cents;
  const uint64_t nulls = draws.Next();
  if (nulls % 16 == 0) {  // one row in 16 lacks something that may be lacking
    const uint8_t how = nulls & 16 ? NeobankEvent::kNull : NeobankEvent::kAbsent;
    if (nulls & 32) event.channel = how;
    if (nulls & 64) event.country = how;
    if (nulls & 128) event.category = how;
  }
  return event;
}

bool NeobankGenerator::CanBeRepeated(uint64_t index) const {
  if (KindOf(index) != Kind::kOrdinary) return false;
  const NeobankEvent event = Ordinary(index);
  return event.status == kNeobankCompleted && event.cents > 0;
}

bool NeobankGenerator::CanBeSettled(uint64_t index) const {
  const Kind kind = KindOf(index);
  return kind == Kind::kLate || (kind == Kind::kOrdinary && Ordinary(index).status == kNeobankPending);
}

bool NeobankGenerator::FindBack(uint64_t index, Want want, uint64_t* found) const {
  constexpr uint64_t kFarthest = 1'000;
  const uint64_t steps = std::min(index + 1, kFarthest);
  for (uint64_t back = 0; back < steps; ++back) {
    if (!(this->*want)(index - back)) continue;
    *found = index - back;
    return true;
  }
  return false;
}

// An engine that lets such a row move its clock finds all that follow late.
void NeobankGenerator::BreakContract(Draws* draws, NeobankEvent* event) const {
  event->defect = draws->Below(2) == 0 ? NeobankDefect::kNullField : NeobankDefect::kMissingField;
  event->broken_field = kNeobankRequiredFields[draws->Below(kNeobankRequiredFields.size())];
  event->timestamp_ms += kBrokenRowLead;
}

void NeobankGenerator::Malform(Draws* draws, NeobankEvent* event) const {
  static constexpr NeobankDefect kDefects[] = {NeobankDefect::kTruncated, NeobankDefect::kNotJson,
                                               NeobankDefect::kAmountIsWord, NeobankDefect::kControlByte,
                                               NeobankDefect::kInvalidUtf8};
  event->defect = kDefects[draws->Below(std::size(kDefects))];
  event->cut = static_cast<uint8_t>(draws->Below(256));
  event->timestamp_ms += kBrokenRowLead;
}

// At the clock exactly, or behind it by up to half an hour. One in 16 is also filtered, which comes first.
void NeobankGenerator::MakeLate(Draws* draws, NeobankEvent* event) const {
  if (!has_clock()) return;
  event->cents = std::max<int64_t>(1, std::abs(event->cents));
  event->status = draws->Below(16) == 0 ? kNeobankPending : kNeobankCompleted;
  const uint64_t how = draws->Below(8);
  const uint64_t behind = how == 0 ? 0 : 1 + draws->Below(how < 4 ? kMinute : 30 * kMinute);
  event->timestamp_ms = clock() - static_cast<int64_t>(behind);
}

// Half of the copies follow within 5 s; one in 10 is sent with a new timestamp, the others byte for byte.
void NeobankGenerator::Repeat(Draws* draws, NeobankEvent* event) const {
  if (index_ == 0) return;
  const uint64_t most = std::max<uint64_t>(1, RowsIn(draws->Below(2) == 0 ? 5'000 : kMostRepeatDelay));
  uint64_t found;
  if (!FindBack(index_ - 1 - draws->Below(std::min(most, index_)), &NeobankGenerator::CanBeRepeated, &found))
    return;
  const int64_t fresh = event->timestamp_ms;
  *event = Ordinary(found);
  if (draws->Below(10) == 0) event->timestamp_ms = fresh;
}

// What the sender's long retries do: the same bytes come late; a new timestamp passes once the id is
// forgotten.
void NeobankGenerator::RepeatLate(Draws* draws, NeobankEvent* event) const {
  const uint64_t back = RowsIn(static_cast<int64_t>(6 * kMinute + draws->Below(19 * kMinute)));
  uint64_t found;
  if (back == 0 || back > index_ || !FindBack(index_ - back, &NeobankGenerator::CanBeRepeated, &found))
    return;
  const int64_t fresh = event->timestamp_ms;
  *event = Ordinary(found);
  if (draws->Below(2) == 0) event->timestamp_ms = fresh;
}

void NeobankGenerator::Settle(Draws* draws, NeobankEvent* event) const {
  if (index_ == 0) return;
  const uint64_t most = std::max<uint64_t>(1, RowsIn(kMostRepeatDelay));
  uint64_t found;
  if (!FindBack(index_ - 1 - draws->Below(std::min(most, index_)), &NeobankGenerator::CanBeSettled, &found))
    return;
  const int64_t fresh = event->timestamp_ms;
  *event = Ordinary(found);
  event->status = kNeobankCompleted;
  event->cents = std::max<int64_t>(1, std::abs(event->cents));
  event->timestamp_ms = fresh;
}

bool NeobankGenerator::Next(NeobankEvent* event) {
  if (index_ == options_.events) return false;
  *event = Ordinary(index_);
  const Kind kind = KindOf(index_);
  if (kind != Kind::kOrdinary) {
    Draws draws(start_state_, index_ + (uint64_t{1} << 62));
    switch (kind) {
      case Kind::kMalformed:
        Malform(&draws, event);
        break;
      case Kind::kBroken:
        BreakContract(&draws, event);
        break;
      case Kind::kLate:
        MakeLate(&draws, event);
        break;
      case Kind::kDuplicate:
        Repeat(&draws, event);
        break;
      case Kind::kLateRetry:
        RepeatLate(&draws, event);
        break;
      case Kind::kSettled:
        Settle(&draws, event);
        break;
      case Kind::kAtClock:
        if (has_clock()) event->timestamp_ms = clock() + 1;
        break;
      case Kind::kOrdinary:
        break;
    }
  }
  if (event->defect == NeobankDefect::kNone) newest_ms_ = std::max(newest_ms_, event->timestamp_ms);
  ++index_;
  return true;
}

uint64_t NeobankGenerator::NextBlock(uint64_t events, std::string* out) {
  constexpr size_t kRows = 512;
  buffer_.resize(kRows * NeobankText::kLongestLine);
  uint64_t given = 0;
  bool more = true;
  while (more && given < events) {
    char* end = buffer_.data();
    const uint64_t rows = std::min<uint64_t>(kRows, events - given);
    NeobankEvent event;
    for (uint64_t row = 0; row < rows && (more = Next(&event)); ++row, ++given)
      end = encoder_.Encode(end, event);
    out->append(buffer_.data(), static_cast<size_t>(end - buffer_.data()));
  }
  return given;
}

}  // namespace caudal
