// CHECK(condition): for programmer errors only, in every build. Prints file, line and condition, then aborts;
// the supervisor restarts the child from the last checkpoint. User input can never reach one.
#pragma once

namespace caudal {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace caudal

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::caudal::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(0)
#else
#define DCHECK(condition) CHECK(condition)
#endif
