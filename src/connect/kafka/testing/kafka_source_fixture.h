// KafkaSourceTest: a source of topic 't' and the client library's own broker that it reads, which also does
// what a real one does not do on demand. That one has no retention, adds no partitions to a topic and makes
// none again: it takes a real one.
//
// Owned by its test; one thread, but for those of the broker.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/outage.h"
#include "connect/kafka/kafka_connector.h"
#include "connect/kafka/kafka_position.h"
#include "connect/kafka/testing/named_column.h"
#include "data/value.h"

// The client library's own, so that its header stays in the files that call it.
struct rd_kafka_s;
struct rd_kafka_headers_s;
struct rd_kafka_mock_cluster_s;

namespace caudal {

inline constexpr int16_t kFetchRequest = 1;

inline Value Text(std::string text) { return Value(std::move(text)); }

class KafkaSourceTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void Put(const char* value, const char* key = nullptr, rd_kafka_headers_s* headers = nullptr);
  void PutNumbers(int from, int to) {
    for (int i = from; i < to; ++i) Put(("{\"a\":" + std::to_string(i) + "}").c_str());
  }

  Status MakeSource() {
    ReadRequest request;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      request.schema.fields.push_back({table_.columns[i].name, table_.columns[i].type});
      request.columns.push_back(static_cast<int>(i));
    }
    ConnectorContext context;
    context.query = "p/q";
    context.budget = &budget_;
    if (env_ != nullptr) context.env = env_;
    auto source = connector_.MakeSource(table_, request, context);
    if (!source.ok()) return source.status();
    reader_.reset();
    enumerator_.reset();
    source_ = std::move(*source);
    enumerator_ = source_->MakeEnumerator();
    return Status();
  }
  // The first split, at `position`.
  Status OpenFirst(const Position& position = "") {
    RETURN_IF_ERROR(MakeSource());
    ASSIGN_OR_RETURN(splits_, enumerator_->Discover());
    ASSIGN_OR_RETURN(reader_, source_->Open(splits_.at(0), position));
    return Status();
  }

  // The broker has threads of its own.
  void GiveTime();

  struct Read {
    std::vector<std::vector<Value>> rows;
    std::vector<RejectedRecord> rejected;
    Status status;
    bool finished = false;
  };
  // Until there are so many rows and rejected records, the split ends, or it fails.
  Read ReadUntil(size_t count) {
    Read read;
    while (read.rows.size() + read.rejected.size() < count) {
      auto poll = reader_->Next();
      if (!poll.ok()) {
        read.status = poll.status();
        break;
      }
      if (std::holds_alternative<Finished>(*poll)) {
        read.finished = true;
        break;
      }
      if (std::holds_alternative<NothingYet>(*poll)) {
        GiveTime();
        continue;
      }
      SourceRows& rows = std::get<SourceRows>(*poll);
      for (int32_t r = 0; r < rows.chunk.size(); ++r) {
        std::vector<Value>& values = read.rows.emplace_back();
        for (const ColumnPtr& column : rows.chunk.columns()) {
          values.push_back(ValueAt(*column, rows.chunk.rows()[r]));
        }
      }
      for (RejectedRecord& rejected : rows.rejected) read.rejected.push_back(std::move(rejected));
    }
    return read;
  }
  static std::vector<int64_t> First(const Read& read) {
    std::vector<int64_t> values;
    for (const auto& row : read.rows) values.push_back(std::get<int64_t>(row[0].data));
    return values;
  }
  Status outage() const { return dynamic_cast<const Outage&>(*reader_).outage(); }
  KafkaPosition At() const { return KafkaPosition::Parse(reader_->position()).value(); }

  MemoryBudget budget_{"q", 0};
  Env* env_ = nullptr;  // the real one
  rd_kafka_s* producer_ = nullptr;
  rd_kafka_mock_cluster_s* cluster_ = nullptr;
  Table table_;
  KafkaConnector connector_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<SplitEnumerator> enumerator_;
  std::unique_ptr<SplitReader> reader_;
  std::vector<Split> splits_;
};

}  // namespace caudal
