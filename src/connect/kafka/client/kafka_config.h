// What the client library is set up with, and what it says while it runs; for reading and sending alike.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "connect/kafka/client/kafka_partition_id.h"

struct rd_kafka_s;
struct rd_kafka_conf_s;

namespace caudal {

// Told by threads of the library; thread-safe. Outlives the client that it is the opaque of.
class KafkaEvents {
 public:
  // What the library said about a broker or the client in the last minute; empty: nothing.
  std::string last_complaint() const;
  // A transient external error for a call that was not answered, with what the library said last; if a broker
  // was reached and refuses the login, the certificates or the protocol, that is the message, with the
  // options to look at.
  Status NoAnswer(std::string what) const;
  int64_t heard_nanos(const KafkaPartitionId& partition) const;
  // A broker does not take the compression that is set: records are sent as they are.
  bool compression_refused() const { return compression_refused_; }

  static int OnStatistics(rd_kafka_s* client, char* json, size_t size, void* self);
  static void Log(const rd_kafka_s* client, int level, const char* facility, const char* text);
  // The library's own verdict on a broker's certificate, which it does not tell.
  static int CheckCertificate(rd_kafka_s* client, const char* broker, int32_t broker_id, int* verdict,
                              int depth, const char* certificate, size_t size, char* text, size_t text_size,
                              void* events);

 private:
  mutable std::mutex mutex_;
  std::string complaint_;
  std::string certificate_;  // why the last one was refused
  int64_t complained_nanos_ = 0;
  std::map<KafkaPartitionId, int64_t> heard_nanos_;
  std::atomic<bool> compression_refused_{false};
};

// "librdkafka 2.15.1", and whether that has faults that matter here.
std::string KafkaLibrary();
// Those faults, for people; empty: none is known.
std::string KafkaVersionWarning();

using KafkaSettings = std::span<const std::pair<const char*, const char*>>;

// `properties` win over `defaults`, and `always` over both. The caller owns the result until a client takes
// it. User error for properties that the library does not know.
Result<rd_kafka_conf_s*> MakeKafkaConf(const std::map<std::string, std::string>& properties,
                                       KafkaSettings defaults, KafkaSettings always, KafkaEvents* events);

}  // namespace caudal
