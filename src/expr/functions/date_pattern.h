// DatePattern: a pattern of java.time ("yyyy-MM-dd HH:mm:ss.SSS"), to write and to read times by.
//
// Compiled once for a pattern, then used by one thread or many. Letters: y u M d D H h k K m s S n a E, text
// in quotes; others are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

class DatePattern {
 public:
  // A wall clock: seconds since 1970-01-01 00:00 and the fraction.
  struct Clock {
    int64_t seconds = 0;
    int32_t nanos = 0;
  };

  static Result<DatePattern> Compile(std::string_view pattern);

  void Format(const Clock& clock, std::string* out) const;
  // Seconds of the wall clock, counted from 1970, within which the text stays the same; 0 = it may change
  // within a second.
  int64_t steady_seconds() const { return steady_seconds_; }
  // False when the text does not follow the pattern. `whole`: nothing may stand behind (java.time); else the
  // rest is ignored (SimpleDateFormat). A day beyond its month is the last one.
  bool Parse(std::string_view text, bool whole, Clock* clock) const;

 private:
  struct Part {
    char letter;  // '\0': literal text
    int width;
    std::string text;
  };
  struct Fields;
  bool ParsePart(const Part& part, bool adjacent, std::string_view* text, Fields* fields) const;

  int64_t SteadySeconds() const;

  std::vector<Part> parts_;
  int64_t steady_seconds_ = 0;
};

}  // namespace caudal
