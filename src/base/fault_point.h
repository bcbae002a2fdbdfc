// FAULT_POINT(name): a named place (fault_point.def) where tests and drills inject a crash or an error.
//
// Unarmed it costs one relaxed load. Armed, it makes the enclosing function (which returns Status or Result)
// return the injected error, or ends the process at once as kill -9 would. Arming is for tests, drills and
// the environment variable that test/cli/kill sets; thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace caudal {

enum class FaultPoint : uint8_t {
#define FAULT(name, meaning) name,
#include "base/fault_point.def"
#undef FAULT
  kCount
};

// What happens at an armed point.
enum class FaultAction {
  kError,  // a transient error (External, backoff)
  kCrash,  // the process ends here; in the simulation a Status that IsInjectedCrash recognises
};

class Faults {
 public:
  static bool armed() { return armed_.load(std::memory_order_relaxed); }
  // Fires at the `after`-th pass (1 = the next) and then `times` times in a row.
  static void Arm(FaultPoint point, FaultAction action, int64_t after = 1, int64_t times = 1);
  static void Disarm();
  // Lets a seeded simulation decide at each pass; replaces armed points until Disarm. The function is called
  // with the point and returns OK or the Status to inject.
  using Decider = Status (*)(FaultPoint point, void* context);
  static void Decide(Decider decider, void* context);
  // In a real process a crash is _exit; the simulation turns it into a Status instead.
  static Status InjectedCrash();
  static bool IsInjectedCrash(const Status& status);

  static Status Hit(FaultPoint point);  // for the macro
  // By name ("sink_commit_before"); kCount if there is none.
  static FaultPoint Find(std::string_view name);
  static std::string_view Name(FaultPoint point);

 private:
  static std::atomic<bool> armed_;
};

}  // namespace caudal

#define FAULT_POINT(name)                                                                              \
  do {                                                                                                 \
    if (::caudal::Faults::armed()) RETURN_IF_ERROR(::caudal::Faults::Hit(::caudal::FaultPoint::name)); \
  } while (false)
