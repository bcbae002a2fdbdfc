// KafkaTableOptions: what the WITH clause of a table of connector 'kafka' says, read and checked.
//
// Plain data. Nothing here needs a broker: a wrong option is found before anything runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/table.h"
#include "base/status.h"

namespace caudal {

// Where reading a partition begins, or, of a bounded read, ends.
struct KafkaOffsetsSpec {
  enum class Mode : uint8_t { kUnbounded, kEarliest, kLatest, kGroup, kTimestamp, kSpecific };
  Mode mode = Mode::kEarliest;
  int64_t timestamp_millis = 0;
  std::map<int32_t, int64_t> offsets;  // by partition, for kSpecific
};

// The names and options of the formats that a table asks for: what can be said before it is read or written.
Status CheckKafkaFormats(const Table& table);

struct KafkaTableOptions {
  std::vector<std::string> topics;    // or:
  std::string topic_pattern;          // a regular expression for whole names
  std::vector<std::string> left_out;  // names that are not read though the pattern fits
  KafkaOffsetsSpec start, stop;
  // Of partitions without a committed offset, in mode kGroup: kUnbounded = it is an error.
  KafkaOffsetsSpec::Mode without_commit = KafkaOffsetsSpec::Mode::kUnbounded;
  bool accept_initial_skip = false;
  bool record_loss = false;                       // lost records are recorded and passed over
  int64_t idle_millis = 0;                        // scan.watermark.idle-timeout
  int64_t discovery_millis = 0;                   // 0: partitions added later are not looked for
  std::string group;                              // empty: none was named
  std::map<std::string, std::string> properties;  // of the client library, without "properties."

  std::string value_format, key_format;
  Options value_options, key_options;   // for the decoders, named as if there were one format
  std::vector<std::string> key_fields;  // columns that are read from the key
  std::string key_prefix;               // of those columns' names, not of the names in the key
  bool key_in_value = true;             // value.fields-include = ALL

  static Result<KafkaTableOptions> From(const Table& table);
  // What writing needs: topics, formats, properties. `by_primary_key`: the primary key's columns are the
  // key's.
  static Result<KafkaTableOptions> ForSink(const Table& table, bool by_primary_key);
  // For people: "topic 'a'", "topics matching 'b.*'".
  std::string Topics() const;
};

}  // namespace caudal
