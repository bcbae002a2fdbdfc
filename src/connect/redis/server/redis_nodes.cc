#include "connect/redis/server/redis_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "connect/redis/redis_error.h"
#include "connect/redis/server/redis_slot.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

constexpr auto kPause = std::chrono::milliseconds(10);  // keys on their way arrive within a few

bool IsError(const RedisAnswer& answer, std::string_view word) {
  return answer.kind == RedisAnswer::Kind::kError && answer.text.starts_with(word);
}

}  // namespace

Result<std::unique_ptr<RedisNodes>> RedisNodes::Open(const RedisTarget* target, std::string_view script) {
  std::unique_ptr<RedisNodes> nodes(new RedisNodes(target, script));
  RETURN_IF_ERROR(nodes->is_cluster() ? nodes->FindNodes() : nodes->OpenOne());
  return nodes;
}

Status RedisNodes::OpenOne() {
  ASSIGN_OR_RETURN(std::unique_ptr<RedisConnection> connection, RedisConnection::Open(target_));
  RETURN_IF_ERROR(Prepare(connection.get()));
  if (!script_.empty()) RETURN_IF_ERROR(AskHowDurable(connection.get()));
  connections_.emplace("", std::move(connection));
  return Status();
}

// Who may not ask, or asks a service that does not tell, goes on as with a server that does not wait.
Status RedisNodes::AskHowDurable(RedisConnection* connection) {
  bool all = true;
  for (const auto& [name, value] : {std::pair("appendonly", "yes"), std::pair("appendfsync", "always")}) {
    RETURN_IF_ERROR(connection->Send(RedisCommand().Add("CONFIG").Add("GET").Add(name)));
    ASSIGN_OR_RETURN(const RedisAnswer answer, connection->Receive());
    all = all && answer.list.size() == 2 && answer.list[1].text == value;
  }
  answers_when_durable_ = all;
  return Status();
}

// Any node tells which server has which slot.
Status RedisNodes::FindNodes() {
  Status failed;
  for (const SocketAddress& node : target_->nodes) {
    Result<RedisConnection*> connection = At(node);
    Result<RedisAnswer> slots = connection.ok()
                                    ? (*connection)->Call(RedisCommand().Add("CLUSTER").Add("SLOTS"))
                                    : Result<RedisAnswer>(connection.status());
    const Status read = slots.ok() ? ReadSlots(*slots, node) : std::move(slots).status();
    connections_.clear();  // it may be a replica, and goes by another name than in the list
    if (read.ok()) return read;
    // Of several errors the one that only other options can mend.
    if (failed.ok() || failed.domain() == Domain::kExternal) failed = read;
  }
  return failed;
}

// Each of the list: the first slot, the last one, the server's name and port and more, its replicas.
Status RedisNodes::ReadSlots(const RedisAnswer& answer, const SocketAddress& asked) {
  owners_.assign(kRedisSlots, SocketAddress());
  for (const RedisAnswer& range : answer.list) {
    if (range.list.size() < 3 || range.list[2].list.size() < 2) {
      return Status::External("the cluster's list of slots is none", Retry::kBackoff);
    }
    const std::vector<RedisAnswer>& server = range.list[2].list;
    SocketAddress owner{server[0].text, static_cast<int>(server[1].integer), ""};
    if (owner.host.empty() || owner.host == "?") owner.host = asked.host;  // it does not know its own name
    const int64_t last = std::min<int64_t>(range.list[1].integer, kRedisSlots - 1);
    for (int64_t slot = std::max<int64_t>(range.list[0].integer, 0); slot <= last; ++slot) {
      owners_[static_cast<size_t>(slot)] = owner;
    }
  }
  return Status();
}

Result<RedisConnection*> RedisNodes::At(const SocketAddress& address) {
  std::unique_ptr<RedisConnection>& connection = connections_[address.text()];
  if (connection == nullptr) {
    ASSIGN_OR_RETURN(auto opened, RedisConnection::OpenAt(target_, address, "cluster"));
    RETURN_IF_ERROR(Prepare(opened.get()));
    connection = std::move(opened);
  }
  return connection.get();
}

Status RedisNodes::Prepare(RedisConnection* connection) {
  if (script_.empty()) return Status();
  ASSIGN_OR_RETURN(const RedisAnswer loaded,
                   connection->Call(RedisCommand().Add("SCRIPT").Add("LOAD").Add(script_)));
  script_name_ = loaded.text;
  return Status();
}

int RedisNodes::SlotOf(std::string_view key) const { return is_cluster() ? RedisSlotOf(key) : 0; }

Result<RedisConnection*> RedisNodes::NodeOf(int slot) {
  if (!is_cluster()) return connections_.begin()->second.get();
  const SocketAddress owner = owners_[static_cast<size_t>(slot)];
  if (owner.port != 0) return At(owner);
  return Status::External(fmt::format("no server of the cluster has slot {}", slot), Retry::kBackoff)
      .Hint("'redis-cli --cluster check' tells more; it is tried again");
}

bool RedisNodes::IsElsewhere(const RedisAnswer& answer) const {
  return is_cluster() &&
         (IsError(answer, "MOVED ") || IsError(answer, "ASK ") || IsError(answer, "TRYAGAIN"));
}

// "MOVED 3999 127.0.0.1:6381"; a server that does not know names says ":6381".
Result<RedisNodes::Place> RedisNodes::PlaceIn(const std::string& redirection,
                                              const SocketAddress& asked) const {
  const size_t blank = redirection.rfind(' '), colon = redirection.rfind(':');
  int64_t port = 0;
  if (blank == std::string::npos || colon == std::string::npos || colon < blank ||
      !ParseWholeInteger(std::string_view(redirection).substr(colon + 1), &port) || port < 1 ||
      port > 65535) {
    return Status::External(fmt::format("the server answers '{}'", redirection), Retry::kBackoff);
  }
  Place place{redirection.starts_with("ASK"), {redirection.substr(blank + 1, colon - blank - 1), 0, ""}};
  place.address.port = static_cast<int>(port);
  if (place.address.host.empty() || place.address.host == "?") place.address.host = asked.host;
  return place;
}

Result<RedisAnswer> RedisNodes::Ask(int slot, const RedisCommand& command) {
  const ByteStream::Deadline deadline = ByteStream::In(target_->answer_millis);
  Place place;
  for (;;) {
    RedisConnection* node = nullptr;
    if (place.asking) {
      ASSIGN_OR_RETURN(node, At(place.address));
      RETURN_IF_ERROR(node->Call(RedisCommand().Add("ASKING")).status());
    } else {
      ASSIGN_OR_RETURN(node, NodeOf(slot));
    }
    RETURN_IF_ERROR(node->Send(command));
    ASSIGN_OR_RETURN(RedisAnswer answer, node->Receive());
    if (!IsElsewhere(answer)) return answer;
    if (std::chrono::steady_clock::now() >= deadline) return RedisError(answer.text);
    const SocketAddress asked = place.asking ? place.address : owners_[static_cast<size_t>(slot)];
    place.asking = false;
    if (IsError(answer, "TRYAGAIN")) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    ASSIGN_OR_RETURN(place, PlaceIn(answer.text, asked));
    if (!place.asking) owners_[static_cast<size_t>(slot)] = place.address;
  }
}

Result<RedisAnswer> RedisNodes::Call(std::string_view key, const RedisCommand& command) {
  ASSIGN_OR_RETURN(RedisAnswer answer, Ask(SlotOf(key), command));
  if (answer.kind == RedisAnswer::Kind::kError) return RedisError(answer.text);
  return answer;
}

std::vector<int> RedisNodes::OneSlotOfEach() const {
  std::map<std::string, int> slots;
  for (int slot = 0; slot < static_cast<int>(owners_.size()); ++slot) {
    const SocketAddress& owner = owners_[static_cast<size_t>(slot)];
    if (owner.port != 0) slots.try_emplace(owner.text(), slot);
  }
  std::vector<int> found;
  for (const auto& [owner, slot] : slots) found.push_back(slot);
  return found;
}

Status RedisNodes::WaitForReplicas(int replicas) {
  RedisCommand wait;
  wait.Add("WAIT").Add(int64_t{replicas}).Add(std::max<int64_t>(target_->answer_millis / 2, 1));
  for (const auto& [address, connection] : connections_) {
    if (connection == nullptr) continue;
    ASSIGN_OR_RETURN(const RedisAnswer answer, connection->Call(wait));
    if (answer.integer >= replicas) continue;
    return Status::External(
               fmt::format("{} of the {} replicas that 'caudal.wait-replicas' asks for have the epoch",
                           answer.integer, replicas),
               Retry::kBackoff)
        .Hint("start the replicas, or let them catch up; it is tried again");
  }
  return Status();
}

}  // namespace caudal
