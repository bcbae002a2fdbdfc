// What the client library is set up with, and what it says while it runs; for reading and sending alike.
#pragma once

#include <cstdint>
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
  // A transient external error for a call that was not answered, with what the library said last; if a broker
  // was reached and refuses the login, the certificates or the protocol, that is the message, with the
  // options to look at.
  Status NoAnswer(std::string what) const;

  static void Log(const rd_kafka_s* client, int level, const char* facility, const char* text);
  // The library's own verdict on a broker's certificate, which it does not tell.
  static int CheckCertificate(rd_kafka_s* client, const char* broker, int32_t broker_id, int* verdict,
                              int depth, const char* certificate, size_t size, char* text, size_t text_size,
                              void* events);

 private:
  mutable std::mutex mutex_;
  std::string complaint_;
  std::string certificate_;  // why the last one was refused
};

using KafkaSettings = std::span<const std::pair<const char*, const char*>>;

// `properties` win over `defaults`, and `always` over both. The caller owns the result until a client takes
// it. User error for properties that the library does not know.
Result<rd_kafka_conf_s*> MakeKafkaConf(const std::map<std::string, std::string>& properties,
                                       KafkaSettings defaults, KafkaSettings always, KafkaEvents* events);

}  // namespace caudal
