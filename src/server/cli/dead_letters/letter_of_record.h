// A record of a dead-letter topic as the letter that it is. A pure function; any thread.
#pragma once

#include "connect/kafka/kafka_fetcher.h"
#include "server/cli/dead_letters/letter.h"

namespace caudal {

// Record number `at`. Headers whose names are of a reason go to Letter::reason and the members that they tell
// of, all others stay the record's own; whatever is not understood is left at what it is without.
Letter LetterOfRecord(const KafkaRecords& records, size_t at);

}  // namespace caudal
