// RedisServer: a real redis-server for tests, on a Unix socket in a folder of its own.
//
// Owned by a test; one thread. It dies with the test, however that ends. Header only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "connect/redis/redis_connection.h"

namespace caudal {

class RedisServer {
 public:
  // Whether this machine has one; `make setup` installs it for tests.
  static bool Installed() {
    return std::filesystem::exists("/usr/bin/redis-server") ||
           std::filesystem::exists("/usr/local/bin/redis-server");
  }

  // `folder` is made, and kept: a server that starts there again has what the former wrote durably.
  RedisServer(std::filesystem::path folder, std::vector<std::string> options)
      : folder_(std::move(folder)), options_(std::move(options)) {
    std::filesystem::create_directories(folder_);
    target_.address.path = socket();
    target_.connect_millis = target_.answer_millis = 30'000;
    Start();
  }
  ~RedisServer() { Kill(); }

  std::string socket() const { return folder_ / "redis.sock"; }

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
      std::vector<std::string> words = {"redis-server", "--port", "0", "--unixsocket", socket(), "--dir",
                                        folder_,        "--save", ""};
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
    while (log.find("eady to accept connections") == std::string::npos) {
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

  // What it answers, as redis-cli shows it: one line a value, errors with their word.
  std::string Ask(const std::vector<std::string>& words) { return Ask(target_, words); }
  static std::string Ask(const RedisTarget& target, const std::vector<std::string>& words) {
    auto connection = RedisConnection::Open(&target);
    EXPECT_TRUE(connection.ok()) << connection.status().ToString();
    if (!connection.ok()) return "";
    RedisCommand command;
    for (const std::string& word : words) command.Add(std::string_view(word));
    EXPECT_TRUE((*connection)->Send(command).ok());
    const auto answer = (*connection)->Receive();
    EXPECT_TRUE(answer.ok()) << answer.status().ToString();
    return answer.ok() ? Text(*answer) : "";
  }

  // Every key but ledgers, in order: "key=value" or "key={field=value …}", each with a blank behind it.
  std::string Contents() {
    auto connection = RedisConnection::Open(&target_);
    EXPECT_TRUE(connection.ok()) << connection.status().ToString();
    if (!connection.ok()) return "";
    auto keys = (*connection)->Call(RedisCommand().Add("KEYS").Add("*"));
    std::vector<std::string> names;
    for (const RedisAnswer& key : keys->list) {
      if (!key.text.starts_with("caudal:ledger:")) names.push_back(key.text);
    }
    std::sort(names.begin(), names.end());
    std::string contents;
    for (const std::string& name : names) contents += name + "=" + Value(connection->get(), name) + " ";
    return contents;
  }

 private:
  static std::string Value(RedisConnection* connection, std::string_view key) {
    const std::string type = connection->Call(RedisCommand().Add("TYPE").Add(key))->text;
    if (type == "string") return connection->Call(RedisCommand().Add("GET").Add(key))->text;
    if (type != "hash") return "(" + type + ")";
    const auto fields = connection->Call(RedisCommand().Add("HGETALL").Add(key));
    std::vector<std::string> pairs;
    for (size_t i = 0; i + 1 < fields->list.size(); i += 2) {
      pairs.push_back(fields->list[i].text + "=" + fields->list[i + 1].text);
    }
    std::sort(pairs.begin(), pairs.end());
    std::string text;
    for (const std::string& pair : pairs) text += (text.empty() ? "" : " ") + pair;
    return "{" + text + "}";
  }
  static std::string Text(const RedisAnswer& answer) {
    if (answer.kind == RedisAnswer::Kind::kInteger) return std::to_string(answer.integer);
    if (answer.kind == RedisAnswer::Kind::kNull) return "(nil)";
    std::string text = answer.text;
    for (const RedisAnswer& one : answer.list) text += (text.empty() ? "" : "\n") + Text(one);
    return text;
  }

  std::filesystem::path folder_;
  std::vector<std::string> options_;
  RedisTarget target_;
  pid_t process_ = 0;
  int out_ = -1;
};

}  // namespace caudal
