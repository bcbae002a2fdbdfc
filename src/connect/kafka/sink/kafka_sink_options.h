// KafkaSinkOptions: what the WITH clause of a table says about writing it, read and checked.
//
// Plain data. Nothing here needs a broker: a wrong option is found before anything runs.
#pragma once

#include <cstdint>
#include <string>

#include "api/table.h"
#include "base/status.h"
#include "connect/kafka/kafka_options.h"

namespace caudal {

// Which partition a record goes to.
enum class KafkaPartitioner : uint8_t {
  kDefault,     // by the hash of its key, as the Java client does; without a key, any
  kFixed,       // that of the task that wrote it
  kRoundRobin,  // the next one
};

struct KafkaSinkOptions {
  std::string declared;  // the table's name in the script
  std::string topic;
  KafkaTableOptions table;  // formats and the client's properties
  bool upsert = false;      // by key: the last row of a key and epoch, a tombstone for a delete
  bool exactly_once = true;
  KafkaPartitioner partitioner = KafkaPartitioner::kDefault;
  std::string transactional_id_prefix;
  std::string ledger_topic;
  bool create_topic = false;     // if it is not there
  int64_t max_record_bytes = 0;  // of key, value and headers

  // `upsert`: a table of connector 'upsert-kafka'.
  static Result<KafkaSinkOptions> From(const Table& table, bool upsert);
  // For error frames: "topic 'a' at broker:9092, sink 'b'".
  std::string frame() const;
};

}  // namespace caudal
