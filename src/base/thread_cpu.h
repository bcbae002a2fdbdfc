// ThreadCpuNanos: the CPU time that the calling thread has used so far, in nanoseconds: what a piece of work
// cost, whoever else was running meanwhile. A measurement alone: nothing may depend on it that a seed must
// replay, which is why it is no part of Env.
#pragma once

#include <time.h>

#include <cstdint>

namespace caudal {

inline int64_t ThreadCpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace caudal
