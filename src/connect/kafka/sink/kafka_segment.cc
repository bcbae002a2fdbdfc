#include "connect/kafka/sink/kafka_segment.h"

#include <nlohmann/json.hpp>

#include "api/segment/cell.h"
#include "connect/kafka/sink/kafka_envelope.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "CDLKAFK1";
constexpr std::string_view kOfCluster = " of cluster ";
constexpr std::string_view kPartitioners[] = {"default", "fixed", "round-robin"};

// Which partition the record goes to that is `number`-th of its segment.
int32_t PartitionOf(std::string_view partitioner, int64_t task, int64_t number, int32_t partitions) {
  if (partitioner == "fixed") return static_cast<int32_t>(task % partitions);
  if (partitioner == "round-robin") return static_cast<int32_t>((task + number) % partitions);
  return -1;
}

// False if the cells are none of a record.
bool ReadRecord(const SegmentRecord& stored, OutgoingRecord* record) {
  size_t at = 0;
  Cell cells[4];
  const size_t count = stored.is_delete ? 1 : 4;
  for (size_t i = 0; i < count; ++i) {
    if (!ReadCell(stored.cells, &at, &cells[i])) return false;
  }
  const auto bytes = [&cells](KafkaEnvelope::Part column) {
    return cells[column].kind == Cell::Kind::kNull ? std::string_view() : cells[column].bytes;
  };
  record->key = bytes(KafkaEnvelope::kKey);
  record->value = bytes(KafkaEnvelope::kValue);
  record->headers = bytes(KafkaEnvelope::kHeaders);
  const Cell& timestamp = cells[KafkaEnvelope::kTimestamp];
  record->timestamp_millis = timestamp.kind == Cell::Kind::kInteger ? timestamp.integer : -1;
  return at == stored.cells.size();
}

}  // namespace

SegmentForm KafkaSegmentForm(const KafkaSinkOptions& options, int task, std::string_view cluster) {
  SegmentForm form;
  form.connector = options.upsert ? "upsert-kafka" : "kafka";
  form.magic = kMagic;
  form.header = Json{
      {"topic", options.topic},
      {"partitioner", kPartitioners[static_cast<size_t>(options.partitioner)]},
      {"task",
       task}}.dump();
  form.origin = form.former_origin = "topic " + options.topic;
  if (!cluster.empty()) form.origin.append(kOfCluster).append(cluster);
  form.declared = options.declared;
  if (options.upsert) form.key = {KafkaEnvelope::kKey};
  return form;
}

bool HasKafkaLedger(const SegmentReference& reference) {
  return reference.target.find(kOfCluster) != std::string::npos;  // no topic's name has a blank
}

Status SendKafkaSegment(SegmentRecords* records, int32_t partitions, KafkaProducer* producer) {
  RETURN_IF_ERROR(records->Open(kMagic));
  const Json header = Json::parse(records->header(), nullptr, false);
  if (!header.is_object() || !header.contains("topic") || !header["topic"].is_string())
    return records->Damaged();
  const std::string topic = header["topic"], partitioner = header.value("partitioner", "default");
  const int64_t task = header.value("task", int64_t{0});
  SegmentRecord stored;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, records->Next(&stored));
    if (!more) return Status();
    OutgoingRecord record;
    record.topic = topic;
    record.partition = PartitionOf(partitioner, task, records->read(), partitions);
    if (!ReadRecord(stored, &record)) return records->Damaged();
    RETURN_IF_ERROR(producer->Produce(record));
  }
}

}  // namespace caudal
