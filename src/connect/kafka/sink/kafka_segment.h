// The segments of connectors 'kafka' and 'upsert-kafka' (docs/formats/kafka-segment.md): records as they are
// sent.
//
// Free functions; any thread that owns the producer.
#pragma once

#include <string_view>

#include "api/segment/segment_file.h"
#include "api/segment/segment_records.h"
#include "base/status.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {

// `task`: whose rows they are, for the partitioner 'fixed'. `cluster`: that has the ledger, if there is one.
SegmentForm KafkaSegmentForm(const KafkaSinkOptions& options, int task, std::string_view cluster);
// Whether the segment was written for a commit that the ledger notes.
bool HasKafkaLedger(const SegmentReference& reference);

// Gives every record to `producer`, which may still have to send some. `partitions`: of the topic.
Status SendKafkaSegment(SegmentRecords* records, int32_t partitions, KafkaProducer* producer);

}  // namespace caudal
