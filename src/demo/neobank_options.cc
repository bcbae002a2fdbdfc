#include "demo/neobank_options.h"

#include <fmt/format.h>

#include <charconv>

namespace caudal {
namespace {

// 2100-01-01 00:00:00 UTC; years stay at four digits and times far from overflow.
constexpr int64_t kLatestTime = 4'102'444'800'000;

Status CheckFraction(std::string_view option, double value) {
  if (value >= 0 && value <= 1) return Status();
  return Status::User(fmt::format("option '--{}': '{}' is not between 0 and 1", option, value))
      .Hint(fmt::format("write a share of all rows, such as --{} 1%", option));
}

Status CheckCount(std::string_view option, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return Status();
  return Status::User(
      fmt::format("option '--{}': '{}' is not between {} and {}", option, value, least, most));
}

}  // namespace

Status NeobankOptions::Validate() const {
  RETURN_IF_ERROR(CheckCount("accounts", accounts, 1, 100'000'000));
  RETURN_IF_ERROR(CheckCount("merchants", merchants, 1, 1'000'000));
  RETURN_IF_ERROR(CheckCount("file-events", file_events, 1, 100'000'000));
  RETURN_IF_ERROR(CheckCount("partitions", partitions, 1, 100'000));
  RETURN_IF_ERROR(CheckCount("events", events, 0, 10'000'000'000));
  if (events / file_events >= 100'000'000) {
    return Status::User(
        fmt::format("option '--file-events': '{}' makes more than 100000000 files", file_events));
  }
  RETURN_IF_ERROR(CheckFraction("duplicates", duplicates));
  RETURN_IF_ERROR(CheckFraction("late", late));
  RETURN_IF_ERROR(CheckFraction("malformed", malformed));
  RETURN_IF_ERROR(CheckFraction("broken", broken));
  RETURN_IF_ERROR(CheckFraction("late-retries", late_retries));
  RETURN_IF_ERROR(CheckFraction("settled", settled));
  RETURN_IF_ERROR(CheckFraction("at-clock", at_clock));
  RETURN_IF_ERROR(CheckFraction("not-completed", not_completed));
  RETURN_IF_ERROR(CheckFraction("not-positive", not_positive));
  const double special = duplicates + late + malformed + broken + late_retries + settled + at_clock;
  if (special > 0.9) {
    return Status::User(
               fmt::format("the shares of special rows add up to {:.0f}%, more than 90%", special * 100))
        .Hint("lower --duplicates, --late or --malformed: each needs ordinary rows to relate to");
  }
  const double rate = events_per_second_of_event_time;
  if (!(rate >= 0.001 && rate <= 10'000'000)) {
    return Status::User(
        fmt::format("option '--event-time-rate': '{}' is not between 0.001 and 10000000", rate));
  }
  // Normal rows come up to 60 s out of order, and a copy up to 4 minutes later must still be in time.
  if (watermark_delay_ms < 5 * 60'000 || watermark_delay_ms > 24 * 3'600'000) {
    return Status::User(
        fmt::format("watermark delay of {} ms is not between 5 minutes and 24 hours", watermark_delay_ms));
  }
  if (retain_ms < 0 || retain_ms > 24 * 3'600'000) {
    return Status::User(fmt::format("retain of {} ms is not between 0 and 24 hours", retain_ms));
  }
  // A day's head start keeps the oldest late row after 1970.
  const double last = static_cast<double>(start_ms) + static_cast<double>(events) * 1000 / rate;
  if (start_ms < 2 * 86'400'000 || last > static_cast<double>(kLatestTime)) {
    return Status::User("event time does not stay between 1970-01-03 and 2100-01-01")
        .Hint("ask for fewer events, or for more of them per second of event time");
  }
  return Status();
}

Result<double> ParseFraction(std::string_view option, std::string_view text) {
  std::string_view number = text;
  double scale = 1;
  if (!number.empty() && number.back() == '%') {
    number.remove_suffix(1);
    scale = 100;
    while (!number.empty() && number.back() == ' ') number.remove_suffix(1);
  }
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0 && value <= scale)) {
    return Status::User(fmt::format("option '--{}': '{}' is not a share between 0% and 100%", option, text))
        .Hint(fmt::format("write --{} 1% or --{} 0.01", option, option));
  }
  return value / scale;
}

}  // namespace caudal
