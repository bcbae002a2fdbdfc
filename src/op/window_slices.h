// WindowSlices: the arithmetic of windows over slices of time that they share.
//
// A slice is gcd(size, slide) wide; slice 0 begins at `offset`, in the local time of the zone if the window
// is aligned there. A window is named by its end, the number of the first slice behind it. Times are ms;
// clocks and watermarks are UTC. One thread, since a TimeZone remembers.
#pragma once

#include <cstdint>
#include <string>

#include "api/plan_node.h"
#include "data/text/time_zone.h"

namespace caudal {

class WindowSlices {
 public:
  // REQUIRES: size > 0, slide > 0. `zone` counts only for a window of local time.
  WindowSlices(const WindowSpec& window, TimeZone zone);

  // The slice that an instant lies in.
  int64_t SliceOf(int64_t utc_millis);
  // The first and last window over the slice, as ends; none if FirstEnd > LastEnd (a slide beyond the size).
  int64_t FirstEnd(int64_t slice) const;
  int64_t LastEnd(int64_t slice) const;
  int64_t NextEnd(int64_t end) const { return end + per_slide_; }
  int64_t PreviousEnd(int64_t end) const { return end - per_slide_; }
  // The first slice of the window.
  int64_t FirstSlice(int64_t end) const { return end - per_window_; }
  // The last window, as its end, that a watermark or clock has closed: everything up to it is late.
  int64_t LastClosedEnd(int64_t utc_millis);
  // The oldest slice that windows behind `closed_end` still need.
  int64_t FirstNeededSlice(int64_t closed_end) const { return closed_end + per_slide_ - per_window_; }

  int64_t slices_per_window() const { return per_window_; }
  // Labels: wall clock times of the window, and its last ms as an instant (or wall clock for TIMESTAMP).
  int64_t StartLabel(int64_t end) const { return offset_ + (end - per_window_) * width_; }
  int64_t EndLabel(int64_t end) const { return offset_ + end * width_; }
  int64_t EndOfLabel(int64_t wall_millis) const;
  int64_t TimeLabel(int64_t end);
  // When the window closes, as an instant.
  int64_t EndInstant(int64_t end);
  // What a slice number means, for fingerprints.
  std::string Words() const;

 private:
  bool local_;
  TimeZone zone_;
  int64_t offset_;
  int64_t width_;
  int64_t per_window_;
  int64_t per_slide_;
  // The slice asked for last, and where it begins; slice 0 at first.
  int64_t last_slice_ = 0;
  int64_t last_from_ = offset_;
};

}  // namespace caudal
