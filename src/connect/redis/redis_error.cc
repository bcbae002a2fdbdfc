#include "connect/redis/redis_error.h"

#include <string>

namespace caudal {
namespace {

enum class Meaning : uint8_t { kPasses, kUser, kData };

struct Known {
  std::string_view word;  // what the answer begins with
  Meaning meaning;
  std::string_view hint;
};

constexpr std::string_view kClusterHint = "the server is a node of a cluster: name it in 'cluster-nodes'";
constexpr std::string_view kAccessHint =
    "set 'username' and 'password' (or put them in 'url'), a secret as ${env:NAME}";
constexpr std::string_view kRights =
    "the user needs the commands auth, select, info, script, evalsha, hmget, hset, hdel, set, del, pttl, "
    "pexpire and persist, on the keys of the table and on caudal:ledger:*; with 'caudal.wait-replicas' wait";

// The first that the answer begins with counts.
constexpr Known kKnown[] = {
    {"LOADING", Meaning::kPasses, "the server reads its data back after a start; it is tried again"},
    {"BUSY", Meaning::kPasses, "a script of somebody else holds the server; it is tried again"},
    {"READONLY", Meaning::kPasses,
     "the server is a replica: promote it, or name the primary; it is tried again"},
    {"OOM", Meaning::kPasses, "raise 'maxmemory' or free some memory there; it is tried again"},
    {"MISCONF", Meaning::kPasses,
     "the server cannot write its own files: look at its disk and log; it is tried again"},
    {"MASTERDOWN", Meaning::kPasses, "the server is a replica without its primary; it is tried again"},
    {"NOREPLICAS", Meaning::kPasses, "the server waits for its replicas ('min-replicas-to-write')"},
    {"CLUSTERDOWN", Meaning::kPasses,
     "slots of the cluster have no server ('redis-cli --cluster check' tells more); it is tried again"},
    {"TRYAGAIN", Meaning::kPasses, "keys are on their way from one node to another; it is tried again"},
    {"UNKILLABLE", Meaning::kPasses, "a script of somebody else holds the server; it is tried again"},
    {"NOSCRIPT", Meaning::kPasses, "somebody has flushed the server's scripts; it is tried again"},
    {"ERR max number of clients", Meaning::kPasses, "raise 'maxclients' there; it is tried again"},
    {"NOAUTH", Meaning::kUser, kAccessHint},
    {"WRONGPASS", Meaning::kUser, kAccessHint},
    {"ERR invalid password", Meaning::kUser, kAccessHint},
    {"ERR Client sent AUTH", Meaning::kUser, "the server asks for no password: leave 'password' out"},
    {"ERR AUTH", Meaning::kUser, "the server asks for no password: leave 'password' out"},
    {"DENIED", Meaning::kUser,
     "the server is in protected mode: give it a password, or bind it to an address"},
    {"NOPERM", Meaning::kUser, kRights},
    {"ERR DB index", Meaning::kUser,
     "'database' is a number below 'databases' of the server's configuration"},
    {"ERR invalid DB index", Meaning::kUser,
     "'database' is a number below 'databases' of the server's configuration"},
    {"MOVED", Meaning::kUser, kClusterHint},
    {"ASK", Meaning::kUser, kClusterHint},
    {"CROSSSLOT", Meaning::kUser, kClusterHint},
    {"WRONGTYPE", Meaning::kData,
     "another program or table has made the key: remove it, or set 'caudal.key' to keys of the table's own"},
};

// Where the word is that says what went wrong. A script's error may have been put behind others: "ERR Error
// running script (…): @user_script:3: WRONGTYPE …" before Redis 7, "@user_script: 47: -OOM …" in Redis 6.
std::string_view CodeIn(std::string_view answer) {
  const size_t script = answer.find("@user_script");
  if (script == std::string_view::npos) return answer;
  for (const Known& known : kKnown) {
    const size_t at = answer.find(known.word, script);
    if (at != std::string_view::npos && !known.word.starts_with("ERR")) return answer.substr(at);
  }
  return answer;
}

}  // namespace

Status RedisError(std::string_view answer) {
  const std::string_view code = CodeIn(answer);
  while (answer.ends_with('\n') || answer.ends_with('\r')) answer.remove_suffix(1);
  const std::string text = "the server answers '" + std::string(answer) + "'";
  for (const Known& known : kKnown) {
    if (!code.starts_with(known.word)) continue;
    Status status = known.meaning == Meaning::kPasses ? Status::External(text, Retry::kBackoff)
                    : known.meaning == Meaning::kData ? Status::Data(text)
                                                      : Status::User(text);
    return std::move(status).Hint(std::string(known.hint));
  }
  // Redis says ERR of what was asked wrongly; other words of states, and newer servers know newer ones.
  if (answer.starts_with("ERR")) return Status::User(text);
  return Status::External(text, Retry::kBackoff).Hint("caudal does not know this answer; it is tried again");
}

}  // namespace caudal
