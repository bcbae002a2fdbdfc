#include "data/text/time_zone.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <chrono>
#include <exception>

namespace caudal {
namespace {

// "+08:00", "-3", "+0530" as seconds.
bool ParseFixedOffset(std::string_view text, int32_t* seconds) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  const int sign = text[0] == '-' ? -1 : 1;
  int digits[4] = {0, 0, 0, 0};
  int count = 0;
  bool colon = false;
  for (const char c : text.substr(1)) {
    if (c == ':' && !colon && count > 0 && count <= 2) {
      if (count == 1) digits[1] = digits[0], digits[0] = 0;
      count = 2;
      colon = true;
    } else if (c >= '0' && c <= '9' && count < 4) {
      digits[count++] = c - '0';
    } else {
      return false;
    }
  }
  if (count == 1) digits[1] = digits[0], digits[0] = 0;
  if (count == 3) return false;
  const int hours = digits[0] * 10 + digits[1];
  const int minutes = digits[2] * 10 + digits[3];
  if (hours > 18 || minutes > 59) return false;
  *seconds = sign * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

Result<TimeZone> TimeZone::Find(std::string_view name) {
  TimeZone zone;
  zone.name_ = std::string(name);
  std::string_view offset = name;
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (name.substr(0, prefix.size()) == prefix) {
      offset = name.substr(prefix.size());
      break;
    }
  }
  if ((offset.empty() && !name.empty()) || name == "Z") return zone;
  if (ParseFixedOffset(offset, &zone.fixed_offset_)) return zone;
  try {
    zone.zone_ = date::locate_zone(zone.name_);
  } catch (const std::exception&) {
    return Status::User(fmt::format("'{}' is not a known time zone", name))
        .Hint("use a name such as 'Europe/Madrid', or an offset such as 'GMT+08:00'");
  }
  return zone;
}

void TimeZone::Load(int64_t utc_seconds) {
  try {
    const date::sys_info info = zone_->get_info(date::sys_seconds(std::chrono::seconds(utc_seconds)));
    begin_ = info.begin.time_since_epoch().count();
    end_ = info.end.time_since_epoch().count();
    offset_ = static_cast<int32_t>(info.offset.count());
  } catch (const std::exception&) {
    begin_ = utc_seconds;  // beyond what the database covers: as the last known offset
    end_ = utc_seconds + 1;
  }
}

int32_t TimeZone::OffsetAt(int64_t utc_seconds) {
  if (zone_ == nullptr) return fixed_offset_;
  if (utc_seconds < begin_ || utc_seconds >= end_) Load(utc_seconds);
  return offset_;
}

int64_t TimeZone::ToUtcSeconds(int64_t local_seconds, bool later) {
  if (zone_ == nullptr) return local_seconds - fixed_offset_;
  // The offsets in force a day before and after bracket any change of the clock around this time.
  const int32_t before = OffsetAt(local_seconds - 86'400);
  const int32_t after = OffsetAt(local_seconds + 86'400);
  const int64_t early = local_seconds - before;
  if (before == after) return early;
  const int64_t late = local_seconds - after;
  const bool early_holds = OffsetAt(early) == before;
  const bool late_holds = OffsetAt(late) == after;
  if (early_holds && late_holds) return later ? late : early;
  if (late_holds) return late;
  return early;  // before the change, or in a gap, where java.time keeps the offset before it
}

}  // namespace caudal
