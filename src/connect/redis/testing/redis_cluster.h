// RedisCluster: a real cluster for tests: some masters that share the slots, and a replica of each if asked
// for.
//
// Owned by a test; one thread, but for a thread that moves slots. Header only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connect/redis/server/redis_slot.h"
#include "connect/redis/testing/redis_server.h"

namespace caudal {

class RedisCluster {
 public:
  RedisCluster(const std::filesystem::path& folder, int masters, bool replicas = false) : masters_(masters) {
    const int count = masters * (replicas ? 2 : 1);
    for (int i = 0; i < count; ++i) {
      ports_.push_back(RedisProcess::FreePort());
      servers_.push_back(std::make_unique<RedisServer>(
          folder / ("node" + std::to_string(i)),
          std::vector<std::string>{"--port", std::to_string(ports_[i]), "--bind", "127.0.0.1",
                                   "--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                                   "--repl-diskless-sync-delay", "0"}));
      ids_.push_back(servers_[i]->Ask({"CLUSTER", "MYID"}));
      EXPECT_EQ(servers_[i]->Ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}), "OK");
    }
    for (int i = 1; i < count; ++i) {
      servers_[0]->Ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(ports_[i])});
    }
    for (int i = 0; i < masters; ++i) {
      owners_.resize(static_cast<size_t>(kRedisSlots * (i + 1) / masters), i);
      servers_[i]->Ask({"CLUSTER", "ADDSLOTSRANGE", std::to_string(kRedisSlots * i / masters),
                        std::to_string(kRedisSlots * (i + 1) / masters - 1)});
    }
    for (int i = masters; i < count; ++i) {
      RedisProcess::WaitUntil("the replica's hearing of its master", [&] {
        return servers_[i]->Ask({"CLUSTER", "REPLICATE", ids_[i - masters]}) == "OK";
      });
    }
    for (const auto& server : servers_) {
      RedisProcess::WaitUntil("the cluster's being whole", [&] {
        const std::string info = server->Ask({"CLUSTER", "INFO"});
        return info.find("cluster_state:ok") != std::string::npos &&
               info.find("cluster_known_nodes:" + std::to_string(count)) != std::string::npos;
      });
    }
    for (int i = masters; i < count; ++i) {
      RedisProcess::WaitUntil("the replica's link", [&] {
        return servers_[i]->Ask({"ROLE"}).find("connected") != std::string::npos;
      });
    }
  }

  RedisServer& server(int i) { return *servers_[static_cast<size_t>(i)]; }
  int port(int i) const { return ports_[static_cast<size_t>(i)]; }
  const std::string& id(int i) const { return ids_[static_cast<size_t>(i)]; }
  // As 'cluster-nodes' wants them.
  std::string nodes() const {
    std::string text;
    for (const int port : ports_)
      text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port);
    return text;
  }

  // Of the first masters, one behind another.
  std::string Contents() {
    std::string contents;
    for (int i = 0; i < masters_; ++i) contents += server(i).Contents() + "| ";
    return contents;
  }

  int OwnerOf(int slot) const { return owners_[static_cast<size_t>(slot)]; }
  // The first steps of a move: new keys go to `to`, those that are there stay until MoveKeys.
  void BeginMove(int slot, int to) {
    const int from = OwnerOf(slot);
    EXPECT_EQ(server(to).Ask({"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)}), "OK");
    EXPECT_EQ(server(from).Ask({"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(to)}), "OK");
  }
  void MoveKey(const std::string& key, int from, int to) {
    EXPECT_EQ(server(from).Ask({"MIGRATE", "127.0.0.1", std::to_string(port(to)), key, "0", "5000"}), "OK");
  }
  void MoveKeys(int slot, int to) {
    const int from = OwnerOf(slot);
    for (;;) {
      const std::string key = server(from).Ask({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1"});
      if (key.empty() || ::testing::Test::HasFailure()) return;
      MoveKey(key, from, to);
    }
  }
  void EndMove(int slot, int to) {
    for (const int i : {to, OwnerOf(slot)}) {
      EXPECT_EQ(server(i).Ask({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)}), "OK");
    }
    owners_[static_cast<size_t>(slot)] = to;
    // A server that has not heard of the other's move would claim slots back with what it knows.
    RedisProcess::WaitUntil("the servers' agreement", [&] { return EpochOf(0) == EpochOf(1); });
  }

 private:
  std::string EpochOf(int i) {
    const std::string info = server(i).Ask({"CLUSTER", "INFO"});
    const size_t at = info.find("cluster_current_epoch:");
    return info.substr(at, info.find('\r', at) - at);
  }

  int masters_;
  std::vector<int> ports_, owners_;
  std::vector<std::string> ids_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
};

}  // namespace caudal
