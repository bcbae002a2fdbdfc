// What a query must not read again: the topics that it writes beside its results. One of its dead letters
// that it read and could not make a row of would be another dead letter, in every epoch for ever.
//
// A free function, any thread; it asks no broker.
#pragma once

#include "api/plan.h"
#include "base/status.h"

namespace caudal {

// User error for a Kafka table that names the query's dead-letter topic, or the ledger of one of its sinks,
// in the same cluster. Tables with a pattern leave them out, and the topic of the dead letters' notes.
Status LeaveOutOwnTopics(Plan* plan);

}  // namespace caudal
