#include "op/window_slices.h"

#include <limits>
#include <numeric>

#include "data/message.h"
#include "op/lateness.h"

namespace caudal {
namespace {

constexpr int64_t kHour = 3'600'000;

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

WindowSlices::WindowSlices(const WindowSpec& window, TimeZone zone)
    : local_(window.local_time_zone && !zone.is_utc()),
      zone_(std::move(zone)),
      offset_(window.offset),
      width_(std::gcd(window.size, window.slide)),
      per_window_(window.size / width_),
      per_slide_(window.slide / width_) {}

int64_t WindowSlices::SliceOf(int64_t utc_millis) {
  int64_t wall = utc_millis;
  if (local_) wall += int64_t{zone_.OffsetAt(FloorDiv(utc_millis, 1000))} * 1000;
  // Most rows lie in the slice of the row before: then no division.
  const int64_t since = wall - last_from_;
  if (since >= 0 && since < width_) return last_slice_;
  last_slice_ = FloorDiv(wall - offset_, width_);
  last_from_ = last_slice_ * width_ + offset_;
  return last_slice_;
}

int64_t WindowSlices::LastEnd(int64_t slice) const {
  return FloorDiv(slice, per_slide_) * per_slide_ + per_window_;
}

int64_t WindowSlices::FirstEnd(int64_t slice) const {
  // The first window whose end is behind the slice: starts are multiples of per_slide_.
  const int64_t start = FloorDiv(slice - per_window_, per_slide_) * per_slide_ + per_slide_;
  return start + per_window_;
}

int64_t WindowSlices::LastClosedEnd(int64_t utc_millis) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  if (utc_millis == Watermark::kNone) return std::numeric_limits<int64_t>::min() / 4;
  if (utc_millis > kFar) return FloorDiv(kFar / width_, per_slide_) * per_slide_ + per_window_;
  // A guess in wall clock time; the change of a clock may move it by a window or two.
  int64_t end = FloorDiv(SliceOf(utc_millis) - per_window_, per_slide_) * per_slide_ + per_window_;
  while (IsLate(LateRule::kWindow, utc_millis, EndInstant(end + per_slide_))) end += per_slide_;
  while (!IsLate(LateRule::kWindow, utc_millis, EndInstant(end))) end -= per_slide_;
  return end;
}

int64_t WindowSlices::EndInstant(int64_t end) {
  const int64_t wall = EndLabel(end);
  if (!local_) return wall;
  const int64_t seconds = FloorDiv(wall, 1000);
  const int64_t instant = zone_.ToUtcSeconds(seconds, /*later=*/true);
  int64_t millis = instant * 1000 + (wall - seconds * 1000);
  // A wall clock time that the change of the clock skips: when the clock changes, as in Flink.
  if (zone_.ToLocalSeconds(instant) != seconds) millis -= millis % kHour;
  return millis;
}

int64_t WindowSlices::TimeLabel(int64_t end) {
  const int64_t wall = EndLabel(end) - 1;
  if (!local_) return wall;
  const int64_t seconds = FloorDiv(wall, 1000);
  return zone_.ToUtcSeconds(seconds, /*later=*/true) * 1000 + (wall - seconds * 1000);
}

int64_t WindowSlices::EndOfLabel(int64_t wall_millis) const {
  return FloorDiv(wall_millis - offset_, width_);
}

std::string WindowSlices::Words() const {
  return "slices of " + std::to_string(width_) + " ms from " + std::to_string(offset_) +
         (local_ ? " in " + zone_.name() : "");
}

}  // namespace caudal
