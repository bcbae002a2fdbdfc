#include "run/simulation/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace caudal {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSeeds = 1'000;
#else
constexpr int64_t kSeeds = 20'000;
#endif

TEST(Simulation, EverySeedEndsAsComputed) {
  const int processes = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const SimulationSummary summary = SimulateMany(1, kSeeds, processes);
  EXPECT_EQ(summary.failed, 0) << summary.first_failures;
  EXPECT_EQ(summary.seeds, kSeeds);
  EXPECT_GE(summary.crashes, 2 * kSeeds);
}

}  // namespace
}  // namespace caudal
