// caudal generate: sends a demo stream into a watched folder, finished file by finished file, or into a Kafka
// topic, and says what must become of it.
#pragma once

#include <string>
#include <vector>

#include "demo/neobank_options.h"
#include "server/cli/console/console.h"

namespace caudal {

struct GenerateCommand {
  NeobankOptions options;
  std::string duplicates, late, malformed;  // as given ("1%"); empty = as in `options`
  std::string to = "files";                 // or "kafka"
  std::string folder;                       // where the files appear by rename; empty = none are written
  std::string bootstrap, topic;             // of Kafka
  uint32_t partitions = 0;                  // of the topic, which is then created; 0 = as many as it has
  std::vector<std::string> properties;      // of the Kafka client, name=value
  double rate = 0;                          // events a second; 0 = as fast as possible
  uint64_t burst = 0;                       // so many events at once before the pace begins
  bool file_events_given = false;
  std::string expected;         // file for the expected fates, totals and digests as JSON
  std::string expected_tables;  // folder for the expected tables as TSV
};

int Generate(GenerateCommand command, Console& console);

}  // namespace caudal
