// Measure: CPU nanoseconds per item of a piece of work, as one line of a table on standard output.
//
// The work runs once unmeasured, then again and again for about half a second; the line shows the best and
// the median round. CPU time of the calling thread is read, not the wall clock, so that a busy machine
// disturbs less; figures of two machines are compared as ratios of lines, never as they stand. One thread;
// nothing is kept.
//
// Under bench/gate, which counts instructions: CAUDAL_BENCH_ROUNDS=N does the work of the line named by
// CAUDAL_BENCH_LINE exactly N times and leaves the others out; without a line it only prints
// "name<tab>items".
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace caudal {

inline int64_t ThreadCpuNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Keeps a result alive that nobody else reads.
template <typename T>
inline void KeepResult(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// True when the gate runs the program: what it asked for has been done.
inline bool RunForGate(const char* name, int64_t items, const std::function<void()>& work) {
  const char* rounds = std::getenv("CAUDAL_BENCH_ROUNDS");
  if (rounds == nullptr) return false;
  const char* line = std::getenv("CAUDAL_BENCH_LINE");
  if (line == nullptr) {
    std::printf("%s\t%lld\n", name, static_cast<long long>(items));
  } else if (std::strcmp(line, name) == 0) {
    for (int round = std::atoi(rounds); round > 0; --round) work();
  }
  return true;
}

// REQUIRES: `work` handles `items` items a call.
inline void Measure(const char* name, int64_t items, const std::function<void()>& work) {
  if (RunForGate(name, items, work)) return;
  constexpr int64_t kBudget = 500'000'000;
  constexpr size_t kFewest = 5;
  work();
  std::vector<int64_t> rounds;
  for (int64_t spent = 0; spent < kBudget || rounds.size() < kFewest; spent += rounds.back()) {
    const int64_t start = ThreadCpuNanoseconds();
    work();
    rounds.push_back(std::max<int64_t>(1, ThreadCpuNanoseconds() - start));
  }
  std::sort(rounds.begin(), rounds.end());
  const double best = static_cast<double>(rounds.front()) / static_cast<double>(items);
  const double median = static_cast<double>(rounds[rounds.size() / 2]) / static_cast<double>(items);
  std::printf("%-44s %10.1f ns  (median %.1f, %zu rounds of %lld)\n", name, best, median, rounds.size(),
              static_cast<long long>(items));
  std::fflush(stdout);
}

}  // namespace caudal
