// caudal_simulate [--first-seed S] [--seeds N] [--processes P]: the simulation from the command line.
//   --seed S        one life, and what became of it
//   --planted NAME  with that fault planted; `all`: each in turn must be noticed (caudal_simulate_planted
//   only)
// Exit code 0 when every seed passes, 4 when one does not or a planted fault goes unnoticed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/planted_fault.h"
#include "run/simulation/seed_range.h"

namespace caudal {
namespace {

constexpr int kFailed = 4;

void Say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // before the next fork, which would say it again
}

int RunOne(uint64_t seed) {
  const SimulationResult result = Simulate(seed);
  const SimulationCounts& counts = result.counts;
  Say(fmt::format("seed {}: {}; {} rows, {} starts, {} crashes, {} restores, {} epochs, {} steps {}\n", seed,
                  result.ok ? "ok" : "FAILED", counts.rows, counts.starts, counts.crashes, counts.restores,
                  counts.epochs, counts.steps, result.what));
  return result.ok ? 0 : kFailed;
}

int RunMany(const SeedRange& range) {
  const SimulationSummary summary = SimulateRange(range, range.enough);
  const SimulationCounts& all = summary.total;
  const double seeds = static_cast<double>(std::max<int64_t>(1, summary.seeds));
  Say(fmt::format(
      "{} seeds, {} failed; a seed has on average {:.0f} rows (at least {}), {:.1f} crashes (at "
      "least {}), {:.1f} restores, {:.1f} of them with state, {:.1f} committed epochs, {:.0f} steps\n",
      summary.seeds, summary.failed, static_cast<double>(all.rows) / seeds, summary.fewest.rows,
      static_cast<double>(all.crashes) / seeds, summary.fewest.crashes,
      static_cast<double>(all.restores) / seeds, static_cast<double>(all.state_restores) / seeds,
      static_cast<double>(all.epochs) / seeds, static_cast<double>(all.steps) / seeds));
  Say(summary.first_failures);
  if (summary.failed > 0 || summary.seeds < range.count) return kFailed;
  const std::string tame = TooTame(summary);
  if (tame.empty()) return 0;
  Say(tame + "\n");
  return kFailed;
}

#ifdef CAUDAL_PLANTS
constexpr int64_t kWithin = 2'000;  // seeds
constexpr int64_t kShown = 3;

// Runs seeds with the fault until some give a wrong result, then the first of them without it.
bool IsNoticed(size_t fault) {
  planted_fault = static_cast<PlantedFault>(fault);
  const SimulationSummary with = SimulateRange({1, kWithin, 1, kWithin}, kShown);
  planted_fault = PlantedFault::kNone;
  uint64_t first = 0;
  std::string seeds, how;
  for (std::string_view rest = with.first_failures; !rest.empty();) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const size_t wrong = line.find(kWrongResult);
    if (wrong == std::string_view::npos) continue;
    const std::string seed(line.substr(5, wrong - 7));  // "seed N: "
    if (first == 0) {
      first = std::strtoull(seed.c_str(), nullptr, 10);
      how = line.substr(wrong + sizeof(kWrongResult) - 1);
    }
    seeds += (seeds.empty() ? "" : " ") + seed;
  }
  const bool clean = first != 0 && Simulate(first).ok;
  Say(fmt::format("{:<25} {:<12} {:<8} {}\n", kPlantedFaultNames[fault], first == 0 ? "UNNOTICED" : seeds,
                  first == 0 ? "-"
                  : clean    ? "passes"
                             : "FAILS",
                  how.substr(0, 110)));
  return clean;
}

int RunPlanted(std::string_view name, const SeedRange& range) {
  for (size_t fault = 0; fault < std::size(kPlantedFaultNames); ++fault) {
    if (name != kPlantedFaultNames[fault]) continue;
    planted_fault = static_cast<PlantedFault>(fault);
    return RunMany(range);
  }
  if (name != "all") {
    Say(fmt::format("there is no planted fault '{}'\n", name));
    return 1;
  }
  Say(fmt::format("{:<25} {:<12} {:<8} {}\n", "fault", "seeds", "without", "how the first was noticed"));
  bool all = true;
  for (size_t fault = 0; fault < std::size(kPlantedFaultNames); ++fault) all &= IsNoticed(fault);
  return all ? 0 : kFailed;
}
#else
int RunPlanted(std::string_view, const SeedRange&) {
  Say("faults are planted in caudal_simulate_planted only\n");
  return 1;
}
#endif

int Main(int argc, char** argv) {
  SeedRange range{1, 20'000, 2, 5};
  long long single = -1;
  std::string_view planted;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const long long value = std::atoll(argv[i + 1]);
    if (name == "--seeds") {
      range.count = value;
    } else if (name == "--first-seed") {
      range.first = static_cast<uint64_t>(value);
    } else if (name == "--processes") {
      range.processes = static_cast<int>(value);
    } else if (name == "--seed") {
      single = value;
    } else if (name == "--planted") {
      planted = argv[i + 1];
    } else {
      Say(fmt::format("unknown option '{}'\n", name));
      return 1;
    }
  }
  if (!planted.empty()) return RunPlanted(planted, range);
  return single >= 0 ? RunOne(static_cast<uint64_t>(single)) : RunMany(range);
}

}  // namespace
}  // namespace caudal

int main(int argc, char** argv) { return caudal::Main(argc, argv); }
