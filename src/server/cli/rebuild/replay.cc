#include "server/cli/rebuild/replay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "run/supervise/child_report.h"
#include "server/engine_run.h"

namespace caudal {
namespace {

RunSignals replay_signals;
volatile std::sig_atomic_t replay_stopped = 0;

void OnReplaySignal(int) {
  replay_signals.savepoint = 1;
  replay_stopped = 1;
}

// Signals as they were, once it goes.
class ReplayHandlers {
 public:
  ReplayHandlers() {
    struct sigaction action = {};
    action.sa_handler = OnReplaySignal;
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < std::size(kStopSignals); ++i) sigaction(kStopSignals[i], &action, &before_[i]);
  }
  ~ReplayHandlers() {
    for (size_t i = 0; i < std::size(kStopSignals); ++i) sigaction(kStopSignals[i], &before_[i], nullptr);
  }
  ReplayHandlers(const ReplayHandlers&) = delete;
  ReplayHandlers& operator=(const ReplayHandlers&) = delete;

 private:
  static constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP};
  struct sigaction before_[std::size(kStopSignals)];
};

}  // namespace

Result<ReplayReport> Replay(const Program& program, const RebuildPlan& plan, int64_t until_idle_millis,
                            Console& console) {
  RunOptions options;
  options.state_root = plan.made_root;
  options.until_idle_millis = until_idle_millis;
  options.only_query = plan.query;
  options.branch = plan.rebuilt;
  const ReplayHandlers handlers;
  // Nobody supervises it: what it tells goes nowhere.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  ChildReport child(nowhere);
  ReplayReport report;
  Status status;
  {
    EngineRun run({&program}, options, &replay_signals, &child);
    bool before_start = false;
    status = run.Run(
        [&](const RunView& view) {
          for (const std::string& warning : view.warnings) console.Note("rebuild: warning: " + warning);
          if (console.shows_progress())
            console.Progress(fmt::format("rebuild: {} rows read", GroupDigits(view.rows_read)));
        },
        &before_start);
    for (const QueryReport& one : run.reports()) report.rows_read = one.rows_read;
  }
  close(nowhere);
  report.stopped = replay_stopped != 0;
  RETURN_IF_ERROR(status);
  return report;
}

}  // namespace caudal
