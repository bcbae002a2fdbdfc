#include "base/fault_point.h"

#include <unistd.h>

#include <mutex>

namespace caudal {
namespace {

constexpr std::string_view kNames[] = {
#define FAULT(name, meaning) #name,
#include "base/fault_point.def"
#undef FAULT
};
constexpr std::string_view kCrashMessage = "injected crash";
constexpr int kCrashExit = 137;  // as a shell reports kill -9

struct Armed {
  std::mutex mutex;
  FaultPoint point = FaultPoint::kCount;
  FaultAction action = FaultAction::kError;
  int64_t passes_left = 0;
  int64_t times_left = 0;
  Faults::Decider decider = nullptr;
  void* context = nullptr;
};

Armed& State() {
  static Armed* state = new Armed();
  return *state;
}

}  // namespace

std::atomic<bool> Faults::armed_{false};

void Faults::Arm(FaultPoint point, FaultAction action, int64_t after, int64_t times) {
  Armed& state = State();
  std::lock_guard lock(state.mutex);
  state.point = point;
  state.action = action;
  state.passes_left = after;
  state.times_left = times;
  state.decider = nullptr;
  armed_ = true;
}

void Faults::Decide(Decider decider, void* context) {
  Armed& state = State();
  std::lock_guard lock(state.mutex);
  state.decider = decider;
  state.context = context;
  armed_ = true;
}

void Faults::Disarm() {
  Armed& state = State();
  std::lock_guard lock(state.mutex);
  state.point = FaultPoint::kCount;
  state.decider = nullptr;
  armed_ = false;
}

Status Faults::InjectedCrash() { return Status::Internal(std::string(kCrashMessage)); }

bool Faults::IsInjectedCrash(const Status& status) {
  return !status.ok() && status.domain() == Domain::kInternal && status.message() == kCrashMessage;
}

Status Faults::Hit(FaultPoint point) {
  Armed& state = State();
  std::unique_lock lock(state.mutex);
  if (state.decider != nullptr) {
    const Decider decider = state.decider;
    void* context = state.context;
    lock.unlock();
    return decider(point, context);
  }
  if (point != state.point || --state.passes_left > 0) return Status();
  if (state.times_left-- <= 0) {
    state.point = FaultPoint::kCount;
    return Status();
  }
  if (state.action == FaultAction::kCrash) _exit(kCrashExit);
  return Status::External("injected fault at " + std::string(Name(point)), Retry::kBackoff);
}

FaultPoint Faults::Find(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<FaultPoint>(i);
  }
  return FaultPoint::kCount;
}

std::string_view Faults::Name(FaultPoint point) { return kNames[static_cast<size_t>(point)]; }

}  // namespace caudal
