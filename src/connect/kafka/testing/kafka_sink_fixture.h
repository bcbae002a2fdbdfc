// KafkaSinkTest: sinks of topic 'out' and the client library's own broker that they write to, which takes
// transactions but hides nothing that was aborted: what depends on that wants a real one (make peer-kafka).
//
// Owned by its test; one thread, but for those of the broker.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "connect/kafka/kafka_connector.h"
#include "connect/kafka/sink/upsert_kafka_connector.h"
#include "connect/kafka/testing/named_column.h"

// The client library's own, so that its header stays in the files that call it.
struct rd_kafka_s;
struct rd_kafka_message_s;
struct rd_kafka_mock_cluster_s;

namespace caudal {

// "row: message" of each row that was refused.
class RowsRefused : public SinkRejects {
 public:
  void Reject(const Chunk& chunk, RowSet rows, std::string message) override;
  std::vector<std::string> rejected;
};

struct AccountRow {
  RowKind kind;
  std::string account;
  int64_t n;
};
Chunk Rows(const std::vector<AccountRow>& rows);

// A key or a value; NULL is "NULL".
std::string BytesOf(const void* data, size_t size);
// "key=value", and with all else: "key=value @ timestamp name: value, …", the headers in their order.
std::string KeyAndValue(const rd_kafka_message_s& message);
std::string WholeRecord(const rd_kafka_message_s& message);

// Every committed record of a topic, partition by partition, as it stands there.
std::vector<std::string> Contents(const std::string& servers, const std::string& topic,
                                  std::string (*describe)(const rd_kafka_message_s&) = KeyAndValue);

class KafkaSinkTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  Table Append() const;
  Table Upsert() const;
  Result<std::unique_ptr<Sink>> TryMakeSink(const Table& table);
  std::unique_ptr<Sink> MakeSink(const Table& table);
  Committable Prepare(Sink& sink, Epoch epoch, const Chunk& rows);
  // Each time as a new process.
  CommitResult Commit(Sink& sink, Epoch epoch, const Committable& committable);
  void ExpectCommitted(Sink& sink, Epoch epoch, const Committable& committable);
  std::vector<std::string> Out();
  std::string Refusal(const Table& table);

  std::filesystem::path folder_;
  std::string servers_;
  KafkaConnector append_;
  UpsertKafkaConnector upsert_;
  ConnectorContext context_;
  RowsRefused rejects_;
  rd_kafka_s* broker_ = nullptr;
  rd_kafka_mock_cluster_s* cluster_ = nullptr;
};

}  // namespace caudal
