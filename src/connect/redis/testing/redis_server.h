// RedisServer: a RedisProcess that a test asks what it holds.
//
// Owned by a test; one thread. Header only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "connect/redis/redis_connection.h"
#include "connect/redis/testing/redis_process.h"

namespace caudal {

class RedisServer : public RedisProcess {
 public:
  RedisServer(std::filesystem::path folder, std::vector<std::string> options,
              const std::string& sentinel = "")
      : RedisProcess(std::move(folder), std::move(options), sentinel) {
    target_.address.path = socket();
    target_.connect_millis = target_.answer_millis = 30'000;
  }

  // What it answers, as redis-cli shows it: one line a value, errors with their word.
  std::string Ask(const std::vector<std::string>& words) { return Ask(target_, words); }
  static std::string Ask(const RedisTarget& target, const std::vector<std::string>& words) {
    auto connection = RedisConnection::OpenAt(&target, target.address, "");
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
    auto connection = RedisConnection::OpenAt(&target_, target_.address, "");
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
  // Of a slot that is on its way here, too.
  static RedisAnswer Get(RedisConnection* connection, const RedisCommand& command) {
    auto answer = connection->Call(command);
    if (answer.ok()) return *answer;
    EXPECT_TRUE(connection->Call(RedisCommand().Add("ASKING")).ok());
    answer = connection->Call(command);
    EXPECT_TRUE(answer.ok()) << answer.status().ToString();
    return answer.ok() ? *answer : RedisAnswer();
  }
  static std::string Value(RedisConnection* connection, std::string_view key) {
    const std::string type = Get(connection, RedisCommand().Add("TYPE").Add(key)).text;
    if (type == "string") return Get(connection, RedisCommand().Add("GET").Add(key)).text;
    if (type != "hash") return "(" + type + ")";
    const RedisAnswer fields = Get(connection, RedisCommand().Add("HGETALL").Add(key));
    std::vector<std::string> pairs;
    for (size_t i = 0; i + 1 < fields.list.size(); i += 2) {
      pairs.push_back(fields.list[i].text + "=" + fields.list[i + 1].text);
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

  RedisTarget target_;
};

}  // namespace caudal
