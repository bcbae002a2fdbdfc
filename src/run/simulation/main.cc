// caudal_simulate [--seeds N] [--first-seed S] [--processes P] [--seed S]: the simulation from the command
// line. Exit code 0 when every seed passes, 4 when one does not.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "run/simulation/simulation.h"

int main(int argc, char** argv) {
  long long seeds = 20'000, first = 1, processes = 2, single = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const long long value = std::atoll(argv[i + 1]);
    if (name == "--seeds") {
      seeds = value;
    } else if (name == "--first-seed") {
      first = value;
    } else if (name == "--processes") {
      processes = value;
    } else if (name == "--seed") {
      single = value;
    } else {
      std::fprintf(stderr, "unknown option '%s'\n", argv[i]);
      return 1;
    }
  }
  if (single >= 0) {
    const caudal::SimulationResult result = caudal::Simulate(static_cast<uint64_t>(single));
    std::printf("seed %lld: %s, %d starts, %d crashes, %lld steps %s\n", single, result.ok ? "ok" : "FAILED",
                result.starts, result.crashes, static_cast<long long>(result.steps), result.what.c_str());
    return result.ok ? 0 : 4;
  }
  const caudal::SimulationSummary summary =
      caudal::SimulateMany(static_cast<uint64_t>(first), seeds, static_cast<int>(processes));
  std::printf("%lld seeds, %lld failed, %lld starts, %lld crashes (at least %lld a seed), %lld steps\n%s",
              static_cast<long long>(summary.seeds), static_cast<long long>(summary.failed),
              static_cast<long long>(summary.starts), static_cast<long long>(summary.crashes),
              static_cast<long long>(summary.fewest_crashes), static_cast<long long>(summary.steps),
              summary.first_failures.c_str());
  return summary.failed == 0 ? 0 : 4;
}
