#include "run/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "run/job.h"
#include "run/schedule/seeded_executor.h"
#include "run/simulation/simulated_world.h"

namespace caudal {
namespace {

constexpr int kMostStarts = 60;
constexpr int64_t kMostSteps = 200'000;
constexpr uint64_t kCrashWithin = 120;  // steps

// One process: its executor and its job. Destroying it is kill -9.
struct Process {
  std::unique_ptr<SeededExecutor> executor;
  std::unique_ptr<Job> job;
};

class Life {
 public:
  explicit Life(uint64_t seed) : world_(seed) {}
  SimulationResult Run();

 private:
  Result<Process> Start();
  // Until it ends or is killed, so many steps after so many more commits; whether it ended by itself.
  bool Live(Process& process, int64_t commits, int64_t steps);
  void Kill(Process process);
  void CountEpochs(const Process& process);
  void StepZombies();
  std::string Compare(const Job& job);

  SimulatedWorld world_;
  std::vector<Process> zombies_;
  SimulationResult result_;
};

Result<Process> Life::Start() {
  Process process;
  process.executor = std::make_unique<SeededExecutor>(&world_.env(), world_.Random());
  JobOptions options;
  options.env = &world_.env();
  options.files = &world_.files();
  options.executor = process.executor.get();
  options.connectors = world_.connectors();
  options.pipeline = "p";
  options.state_root = "state";
  options.steps = 1;
  // So that an epoch's state has several files, and tasks wait for them.
  options.snapshot_bytes = {/*worth_a_file=*/200, /*most_waiting=*/600};
  // Rescaled as chance has it, after a first start with two.
  const int tasks = result_.counts.tasks < 2 ? 2 : 1 + static_cast<int>(world_.Random() % 2);
  ASSIGN_OR_RETURN(process.job, Job::Start(world_.workload().MakePlan(tasks, false), options));
  result_.counts.tasks = 2;
  if (const Manifest* from = process.job->restored_from()) {
    ++result_.counts.restores;
    result_.counts.state_restores += std::any_of(from->nodes.begin(), from->nodes.end(),
                                                 [](const NodeState& node) { return node.state_rows > 0; });
  }
  return process;
}

void Life::StepZombies() {
  if (zombies_.empty() || !world_.OneIn(3)) return;
  Process& zombie = zombies_[world_.Random() % zombies_.size()];
  if (!zombie.job->finished()) zombie.executor->RunOne();
}

bool Life::Live(Process& process, int64_t commits, int64_t steps) {
  Epoch last = world_.table("rows").ledger;
  for (int64_t step = 0; step < steps && !process.job->finished();) {
    if (const Epoch now = world_.table("rows").ledger; now != last) {
      last = now;
      --commits;
    }
    step += commits <= 0;
    ++result_.counts.steps;
    StepZombies();
    if (world_.OneIn(24)) world_.env().Advance(1000 * static_cast<int64_t>(world_.Random() % 12));
    if (process.executor->RunOne()) continue;
    const int64_t next = process.executor->next_timer();
    if (next == INT64_MAX) return process.job->finished();
    world_.env().Advance(std::max<int64_t>(1, (next - world_.env().SteadyNanos()) / 1000 + 1));
  }
  return process.job->finished();
}

void Life::CountEpochs(const Process& process) {
  if (process.job != nullptr) result_.counts.epochs += process.job->progress().checkpoints.committed;
}

void Life::Kill(Process process) {
  ++result_.counts.crashes;
  CountEpochs(process);
  if (world_.OneIn(3) && process.job != nullptr && !process.job->finished()) {
    zombies_.push_back(std::move(process));  // only believed to be dead
    return;
  }
  process.job.reset();
  if (!world_.OneIn(2)) return;  // the process died, the machine did not
  for (Process& zombie : zombies_) zombie.job.reset();
  zombies_.clear();
  world_.files().Crash(world_.Random());
}

std::string Differs(const std::string& what, const std::vector<SimulatedRow>& expected,
                    const std::vector<SimulatedRow>& actual) {
  if (expected == actual) return {};
  std::vector<SimulatedRow> missing, extra;
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(),
                      std::back_inserter(missing));
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(),
                      std::back_inserter(extra));
  std::string text = fmt::format("{}: {} rows instead of {};", what, actual.size(), expected.size());
  auto list = [&](const char* name, const std::vector<SimulatedRow>& rows) {
    for (size_t i = 0; i < std::min<size_t>(3, rows.size()); ++i) {
      text += fmt::format(" {} ({}, {}, {}, {})", name, rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
    }
  };
  list("missing", missing);
  list("extra", extra);
  return text;
}

std::string Life::Compare(const Job& job) {
  const Expectation expected = world_.workload().Expect();
  auto sorted = [&](const std::string& name) {
    std::vector<SimulatedRow> rows = world_.table(name).rows;
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  for (const std::string& difference : {Differs("rows", expected.rows, sorted("rows")),
                                        Differs("windows", expected.windows, world_.FileRows()),
                                        Differs("dead letters", expected.dead, sorted("dead"))}) {
    if (!difference.empty()) return difference;
  }
  std::map<std::string, int64_t> fates;
  for (const NodeState& node : job.progress().checkpoints.nodes) {
    for (const CountedFate& fate : node.fates) {
      if (fate.rows != 0) fates[node.id + "/" + fate.fate + "/" + fate.name] = fate.rows;
    }
  }
  std::map<std::string, int64_t> wanted = expected.fates;
  std::erase_if(wanted, [](const auto& fate) { return fate.second == 0; });
  if (fates == wanted) return {};
  std::string text = "counters:";
  for (const auto& [name, rows] : wanted) text += fmt::format(" {}={}/{}", name, fates[name], rows);
  return text;
}

SimulationResult Life::Run() {
  for (const std::vector<SimulatedEvent>& split : world_.workload().splits()) {
    result_.counts.rows += static_cast<int64_t>(split.size());
  }
  const int forced = 2 + static_cast<int>(world_.Random() % 2);
  world_.set_faults_left(static_cast<int>(world_.Random() % 4));
  while (result_.counts.starts++ < kMostStarts) {
    Result<Process> started = Start();
    if (!started.ok()) {
      const Status status = started.status();
      if (!Faults::IsInjectedCrash(status) && status.domain() != Domain::kExternal) {
        result_.what = "start: " + status.ToString();
        return result_;
      }
      if (Faults::IsInjectedCrash(status)) Kill({});
      continue;
    }
    const bool to_be_killed = result_.counts.crashes < forced;
    // Most crashes come when there is something to restore.
    const int64_t commits =
        to_be_killed && !world_.OneIn(4) ? 1 + static_cast<int64_t>(world_.Random() % 2) : 0;
    const int64_t steps =
        to_be_killed ? 1 + static_cast<int64_t>(world_.Random() % kCrashWithin) : kMostSteps;
    if (!Live(*started, commits, steps)) {
      if (!to_be_killed) {
        const JobProgress progress = started->job->progress();
        result_.what = fmt::format(
            "it does not come to an end after {} steps: {} epochs, {} abandoned; {}", result_.counts.steps,
            progress.checkpoints.committed, progress.checkpoints.abandoned,
            progress.checkpoints.last_failure.ok() ? std::string("no failure")
                                                   : progress.checkpoints.last_failure.ToString());
        return result_;
      }
      Kill(std::move(*started));
      continue;
    }
    const Status status = started->job->status();
    if (status.ok() && to_be_killed) {
      Kill(std::move(*started));  // it was done, and does not know it
      continue;
    }
    if (status.ok()) {
      CountEpochs(*started);
      result_.what = Compare(*started->job);
      result_.ok = result_.what.empty();
      result_.wrong_result = !result_.ok;
      return result_;
    }
    if (!Faults::IsInjectedCrash(status) && status.domain() != Domain::kExternal) {
      result_.what = status.ToString();
      result_.wrong_result = status.message().starts_with("accounting: ");
      return result_;
    }
    if (Faults::IsInjectedCrash(status)) Kill(std::move(*started));
  }
  result_.what = "it never ran to its end";
  return result_;
}

}  // namespace

SimulationResult Simulate(uint64_t seed) { return Life(seed).Run(); }

}  // namespace caudal
