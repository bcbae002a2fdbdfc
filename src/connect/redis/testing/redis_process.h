// RedisProcess: a real redis-server or sentinel for tests, on a Unix socket in a folder of its own, and on
// what ports its options say.
//
// Owned by a test; one thread. It dies with the test, however that ends. Header only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace caudal {

class RedisProcess {
 public:
  // Whether this machine has one; `make setup` installs it for tests.
  static bool Installed() {
    return std::filesystem::exists("/usr/bin/redis-server") ||
           std::filesystem::exists("/usr/local/bin/redis-server");
  }

  // `folder` is made, and kept: a server that starts there again has what the former wrote durably. With a
  // `sentinel` configuration it is one, and its file is written there.
  RedisProcess(std::filesystem::path folder, std::vector<std::string> options, const std::string& sentinel)
      : folder_(std::move(folder)), options_(std::move(options)), is_sentinel_(!sentinel.empty()) {
    std::filesystem::create_directories(folder_);
    if (is_sentinel_) std::ofstream(folder_ / "sentinel.conf") << sentinel;
    Start();
  }
  ~RedisProcess() { Kill(); }
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  std::string socket() const { return folder_ / "redis.sock"; }

  // That nobody listened on a moment ago; below 55536, as the nodes of a cluster take the one 10,000 higher
  // too.
  static int FreePort() {
    for (;;) {
      const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof address;
      const bool bound = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
      close(probe);
      if (bound && ntohs(address.sin_port) < 55'536) return ntohs(address.sin_port);
    }
  }

  // Returns when it takes connections.
  void Start() {
    int out[2];
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      dup2(out[1], STDOUT_FILENO);
      std::vector<std::string> words = {"redis-server"};
      if (is_sentinel_) words = {"redis-server", folder_ / "sentinel.conf", "--sentinel"};
      words.insert(words.end(), {"--port", "0", "--unixsocket", socket(), "--dir", folder_});
      if (!is_sentinel_) words.insert(words.end(), {"--save", ""});
      words.insert(words.end(), options_.begin(), options_.end());
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execvp(arguments[0], arguments.data());
      _exit(1);
    }
    close(out[1]);
    std::string log;
    char bytes[4096];
    const std::string_view ready = is_sentinel_ ? "Sentinel ID is" : "eady to accept connections";
    while (log.find(ready) == std::string::npos) {
      const ssize_t size = read(out[0], bytes, sizeof bytes);
      ASSERT_GT(size, 0) << "redis-server ended: " << log;
      log.append(bytes, static_cast<size_t>(size));
    }
    out_ = out[0];  // stays open: who writes into a closed pipe dies
  }
  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(out_);
    process_ = 0;
  }
  void Pause() { kill(process_, SIGSTOP); }
  void Continue() { kill(process_, SIGCONT); }

  // Real servers take their time: asks again and again.
  template <typename Condition>
  static void WaitUntil(const std::string& what, const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what << " did not happen";
      Pause(20);
    }
  }
  static void Pause(int millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> options_;
  bool is_sentinel_;
  pid_t process_ = 0;
  int out_ = -1;
};

}  // namespace caudal
