// The segments of connectors 'kafka' and 'upsert-kafka' (docs/formats/kafka-segment.md): records as they are
// sent.
//
// Free functions; any thread that owns the producer.
#pragma once

#include "api/segment/segment_file.h"
#include "api/segment/segment_records.h"
#include "base/status.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {

// `task`: whose rows they are, for the partitioner 'fixed'.
SegmentForm KafkaSegmentForm(const KafkaSinkOptions& options, int task);

// Gives every record to `producer`, which may still have to send some. `partitions`: of the topic.
Status SendKafkaSegment(SegmentRecords* records, int32_t partitions, KafkaProducer* producer);

}  // namespace caudal
