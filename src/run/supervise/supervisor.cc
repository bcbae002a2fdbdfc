#include "run/supervise/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/env.h"
#include "data/text/time_text.h"
#include "run/supervise/restart_policy.h"

namespace caudal {
namespace {

constexpr RestartPolicy::Limits kLimits = {6, 100, 30'000};
constexpr auto kTick = std::chrono::milliseconds(20);

volatile std::sig_atomic_t pending_signal = 0;
volatile pid_t child_process = 0;

// Passes the signal on at once; remembers it, so that a child that dies while stopping is not restarted.
void PassOn(int number) {
  if (number != SIGUSR2) pending_signal = number;
  if (child_process > 0) kill(child_process, number);
}

void HandleSignals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!IsIgnoredHangup(number)) sigaction(number, &action, nullptr);
  }
}

struct ChildEnd {
  int wait_status = 0;
  std::string lines;
};

ChildEnd WaitForChild(pid_t process, int pipe) {
  ChildEnd end;
  char bytes[4096];
  pollfd readable = {pipe, POLLIN, 0};
  for (;;) {
    // Not a bare read: SA_RESTART would go on with it, and TSan holds a signal back until the call returns.
    if (poll(&readable, 1, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    const ssize_t count = read(pipe, bytes, sizeof(bytes));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (count > 0) end.lines.append(bytes, static_cast<size_t>(count));
  }
  while (waitpid(process, &end.wait_status, 0) < 0 && errno == EINTR) {
  }
  close(pipe);
  return end;
}

// In the child: what ChildMain needs from a fresh process.
[[noreturn]] void BeChild(const ChildMain& child, const FaultPlan& faults, int start, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its supervisor nobody would hold the lock
  HandleSignals(SIG_DFL);
  faults.Arm(start);
  ChildReport report(pipe);
  child(&report);
  std::fflush(nullptr);
  _exit(0);
}

std::string Description(pid_t child, const std::string& listen, int start) {
  char time[kTimestampTextSize];
  const size_t size = FormatTimestamp(Env::Real()->NowMicros(), 3, time);
  return fmt::format(
      "{{\"pid\": {}, \"child\": {}, \"starts\": {}, \"listen\": \"{}\", \"started\": \"{}\"}}", getpid(),
      child, start + 1, listen, std::string_view(time, size));
}

Status CrashStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return Status::Internal(fmt::format("the engine was killed by signal {} ({})", WTERMSIG(wait_status),
                                        strsignal(WTERMSIG(wait_status))));
  }
  return Status::Internal(fmt::format("the engine ended with code {}", WEXITSTATUS(wait_status)));
}

Status StoppedWithoutCheckpoint(Status why) {
  return std::move(why).Hint(
      "stopped before it could start again, so without a last checkpoint: the next run goes on at the last "
      "committed epoch, nothing is lost");
}

// Waits, but not longer than until a signal asks to stop.
void Pause(int64_t millis) {
  const int64_t until = Env::Real()->SteadyNanos() + millis * 1'000'000;
  while (pending_signal == 0 && Env::Real()->SteadyNanos() < until) std::this_thread::sleep_for(kTick);
}

}  // namespace

bool IsIgnoredHangup(int number) {
  struct sigaction action = {};
  return number == SIGHUP && sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

SupervisorResult Supervise(const ChildMain& child, const FaultPlan& faults, RunLog* log,
                           const StateLock& lock, const std::string& listen, const RestartNote& note) {
  HandleSignals(PassOn);
  RestartPolicy policy(kLimits);
  for (int start = 0;; ++start) {
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0)
      return {Status::External(fmt::format("no pipe: {}", std::strerror(errno))), true};
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process < 0) return {Status::External(fmt::format("no new process: {}", std::strerror(errno))), true};
    if (process == 0) {
      close(pipes[0]);
      BeChild(child, faults, start, pipes[1]);
    }
    child_process = process;
    close(pipes[1]);
    if (pending_signal != 0) kill(process, pending_signal);
    // Only `caudal stop` needs it; a full disk must not end the run.
    const Status described = lock.Describe(Description(process, listen, start));
    log->Write(fmt::format("event=child_start child={} start={} fault={} described={}", process, start,
                           faults.Describe(start), described.ok()));
    const ChildEnd end = WaitForChild(process, pipes[0]);
    child_process = 0;
    const ChildReport::Summary summary = ChildReport::Read(end.lines);
    const bool crashed = !summary.ended || !WIFEXITED(end.wait_status);
    const Status status = crashed ? CrashStatus(end.wait_status) : summary.status;
    log->Write(fmt::format(
        "event=child_end child={} start={} fault={} crashed={} signal={} code={} progressed={} error={}",
        process, start, faults.Describe(start), crashed,
        WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : 0,
        WIFEXITED(end.wait_status) ? WEXITSTATUS(end.wait_status) : -1, summary.progressed,
        RunLog::Quoted(status.ToString())));
    if (status.ok()) return {};
    if (summary.progressed) policy.Progressed();
    const bool refused = summary.before_start && start == 0 && !crashed;
    const std::optional<int64_t> pause = policy.AfterEnd(status);
    if (refused || !pause) return {status, refused};
    if (pending_signal != 0) return {StoppedWithoutCheckpoint(status), false};
    log->Write(fmt::format("event=restart after_ms={} failures={}", *pause, policy.failures()));
    note(status, *pause);
    Pause(*pause);
    if (pending_signal != 0) return {StoppedWithoutCheckpoint(status), false};
  }
}

}  // namespace caudal
