// What the client library is set up with, and what it says while it runs; for reading and sending alike.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"

struct rd_kafka_s;
struct rd_kafka_conf_s;

namespace caudal {

// Told by threads of the library; thread-safe. Outlives the client that it is the opaque of.
class KafkaEvents {
 public:
  // What the library said last about a broker or the client; empty: nothing.
  std::string last_complaint() const;

  static void Log(const rd_kafka_s* client, int level, const char* facility, const char* text);

 private:
  mutable std::mutex mutex_;
  std::string complaint_;
};

using KafkaSettings = std::span<const std::pair<const char*, const char*>>;

// `properties` win over `defaults`, and `always` over both. The caller owns the result until a client takes
// it. User error for properties that the library does not know.
Result<rd_kafka_conf_s*> MakeKafkaConf(const std::map<std::string, std::string>& properties,
                                       KafkaSettings defaults, KafkaSettings always, KafkaEvents* events);

}  // namespace caudal
