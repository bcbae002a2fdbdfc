#include "run/simulation/seed_range.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace caudal {
namespace {

// What every seed must have, and what a seed must have on average.
constexpr SimulationCounts kLeast = {.rows = 200, .tasks = 2, .starts = 3, .crashes = 2};
constexpr SimulationCounts kLeastOnAverage = {.restores = 1, .state_restores = 1, .epochs = 3};

void Add(const SimulationSummary& part, SimulationSummary* whole) {
  for (auto count : SimulationCounts::kAll) {
    whole->total.*count += part.total.*count;
    whole->fewest.*count =
        whole->seeds == 0 ? part.fewest.*count : std::min(whole->fewest.*count, part.fewest.*count);
  }
  whole->seeds += part.seeds;
  whole->failed += part.failed;
  whole->wrong_results += part.wrong_results;
  whole->first_failures += part.first_failures;
}

SimulationSummary SummaryOf(uint64_t seed, const SimulationResult& result) {
  SimulationSummary summary{1, !result.ok, result.wrong_result, result.counts, result.counts, {}};
  if (!result.ok)
    summary.first_failures =
        fmt::format("seed {}: {}{}\n", seed, result.wrong_result ? kWrongResult : "", result.what);
  return summary;
}

std::string Encode(const SimulationSummary& summary) {
  std::string text = fmt::format("{} {} {}", summary.seeds, summary.failed, summary.wrong_results);
  for (auto count : SimulationCounts::kAll) {
    text += fmt::format(" {} {}", summary.total.*count, summary.fewest.*count);
  }
  return text + "\n" + summary.first_failures;
}

bool Decode(const std::string& text, SimulationSummary* summary) {
  std::istringstream in(text);
  in >> summary->seeds >> summary->failed >> summary->wrong_results;
  for (auto count : SimulationCounts::kAll) in >> summary->total.*count >> summary->fewest.*count;
  if (!in) return false;
  summary->first_failures = text.substr(text.find('\n') + 1);
  return true;
}

void WriteAll(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t wrote = write(fd, text.data() + at, text.size() - at);
    if (wrote <= 0) return;
    at += static_cast<size_t>(wrote);
  }
}

std::string ReadAllFrom(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

SimulationSummary SimulateShare(const SeedRange& range, int share, int64_t enough_wrong_results) {
  // Lives are short and alike: memory goes back to the next one, not to the kernel.
  mallopt(M_MMAP_THRESHOLD, 512 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  SimulationSummary own;
  for (int64_t i = share; i < range.count; i += range.processes) {
    if (own.failed >= range.enough || own.wrong_results >= enough_wrong_results) break;
    const uint64_t seed = range.first + static_cast<uint64_t>(i);
    Add(SummaryOf(seed, Simulate(seed)), &own);
  }
  return own;
}

}  // namespace

SimulationSummary SimulateRange(const SeedRange& range, int64_t enough_wrong_results) {
  std::vector<std::pair<pid_t, int>> children;
  for (int share = 0; share < range.processes; ++share) {
    int ends[2];
    if (pipe(ends) != 0) break;
    const pid_t pid = fork();
    if (pid == 0) {
      WriteAll(ends[1], Encode(SimulateShare(range, share, enough_wrong_results)));
      _exit(0);
    }
    close(ends[1]);
    children.emplace_back(pid, ends[0]);
  }
  SimulationSummary total;
  for (const auto& [pid, fd] : children) {
    const std::string text = ReadAllFrom(fd);
    close(fd);
    int status = 0;
    waitpid(pid, &status, 0);
    SimulationSummary part;
    if (!Decode(text, &part) || status != 0) {
      ++part.failed;
      part.first_failures += fmt::format("a simulating process died: {}\n", status);
    }
    Add(part, &total);
  }
  return total;
}

std::string TooTame(const SimulationSummary& summary) {
  static constexpr const char* kNames[] = {"rows",     "tasks",          "starts", "crashes",
                                           "restores", "state restores", "epochs", "steps"};
  for (size_t i = 0; i < std::size(SimulationCounts::kAll); ++i) {
    const auto count = SimulationCounts::kAll[i];
    if (summary.fewest.*count < kLeast.*count) {
      return fmt::format("a seed has {} {}, at least {} are needed", summary.fewest.*count, kNames[i],
                         kLeast.*count);
    }
    if (summary.total.*count < kLeastOnAverage.*count * summary.seeds) {
      return fmt::format("{} seeds have {} {}, at least {} a seed are needed", summary.seeds,
                         summary.total.*count, kNames[i], kLeastOnAverage.*count);
    }
  }
  return {};
}

}  // namespace caudal
