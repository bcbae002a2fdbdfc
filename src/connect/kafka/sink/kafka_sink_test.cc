// The sinks against the client library's own broker, which takes transactions but hides nothing that was
// aborted: what depends on that is in KafkaSinkOnABroker, which wants a real one (make peer-kafka).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "api/segment/segment_file.h"
#include "api/testing/sink_contract.h"
#include "base/fault_point.h"
#include "connect/kafka/kafka_connector.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/sink/upsert_kafka_connector.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kReadMillis = 20'000;

class Rejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet rows, std::string message) override {
    for (int32_t i = 0; i < rows.count; ++i) rejected.push_back(std::to_string(rows[i]) + ": " + message);
  }
  std::vector<std::string> rejected;
};

TableColumn ColumnOf(std::string name, Type type, std::string metadata = "") {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  if (!metadata.empty()) column.kind = TableColumn::Kind::kMetadata;
  column.metadata_key = std::move(metadata);
  return column;
}

struct TestRow {
  RowKind kind;
  std::string account;
  int64_t n;
};

Chunk Rows(const std::vector<TestRow>& rows) {
  ColumnBuilder accounts(Type::String().WithNullable(false)), numbers{Type(TypeId::kBigInt)};
  std::vector<RowKind> kinds;
  bool insert_only = true;
  for (const TestRow& row : rows) {
    accounts.AppendString(row.account);
    numbers.Append(row.n);
    kinds.push_back(row.kind);
    insert_only = insert_only && row.kind == RowKind::kInsert;
  }
  return Chunk({accounts.Finish(), numbers.Finish()}, static_cast<int32_t>(rows.size()), nullptr,
               insert_only ? nullptr : std::make_shared<const std::vector<RowKind>>(kinds));
}

std::string BytesOf(const void* data, size_t size) {
  return data == nullptr ? std::string("NULL") : std::string(static_cast<const char*>(data), size);
}

std::string KeyAndValue(const rd_kafka_message_t& message) {
  return BytesOf(message.key, message.key_len) + "=" + BytesOf(message.payload, message.len);
}

// "key=value @ timestamp name: value, …" with the headers in their order.
std::string Whole(const rd_kafka_message_t& message) {
  std::string text =
      KeyAndValue(message) + " @ " + std::to_string(rd_kafka_message_timestamp(&message, nullptr));
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return text;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; ++i) {
    text += (i == 0 ? " " : ", ") + std::string(name) + ": " + BytesOf(value, size);
  }
  return text;
}

std::string Partition(const rd_kafka_message_t& message) { return std::to_string(message.partition); }

// Every committed record of a topic, partition by partition, as it stands there.
std::vector<std::string> Contents(const std::string& servers, const std::string& topic,
                                  std::string (*describe)(const rd_kafka_message_t&) = KeyAndValue) {
  char text[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] :
       {std::pair("bootstrap.servers", servers), std::pair("group.id", std::string("test")),
        std::pair("isolation.level", std::string("read_committed")),
        std::pair("enable.partition.eof", std::string("true"))}) {
    rd_kafka_conf_set(conf, name, value.c_str(), text, sizeof text);
  }
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
  rd_kafka_poll_set_consumer(consumer);
  std::vector<std::string> records;
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_topic_t* handle = rd_kafka_topic_new(consumer, topic.c_str(), nullptr);
  rd_kafka_metadata(consumer, 0, handle, &metadata, kReadMillis);
  rd_kafka_topic_destroy(handle);
  const int partitions =
      metadata == nullptr || metadata->topic_cnt == 0 ? 0 : metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  for (int partition = 0; partition < partitions; ++partition) {
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    for (bool end = false; !end;) {
      rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer, kReadMillis);
      end = message == nullptr || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
      if (message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        records.push_back(describe(*message));
      }
      if (message != nullptr) rd_kafka_message_destroy(message);
    }
  }
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return records;
}

class KafkaSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("caudal-kafka-" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    char text[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", text, sizeof text);
    broker_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    ASSERT_NE(broker_, nullptr) << text;
    cluster_ = rd_kafka_handle_mock_cluster(broker_);
    servers_ = rd_kafka_mock_cluster_bootstraps(cluster_);
    rd_kafka_mock_topic_create(cluster_, "out", 2, 1);
    rd_kafka_mock_topic_create(cluster_, "__caudal_ledger", 1, 1);
    context_.files = FileSystem::Local();
    context_.query = "bank/features";
    context_.identity = "0123";
    context_.sink = "features/sink/1";
    context_.segment_dir = folder_ / "segments";
  }
  void TearDown() override {
    rd_kafka_destroy(broker_);
    std::filesystem::remove_all(folder_);
  }

  Table Append() const {
    Table table;
    table.name = "features";
    table.columns = {ColumnOf("account", Type::String().WithNullable(false)),
                     ColumnOf("n", Type(TypeId::kBigInt))};
    table.options = {{"connector", "kafka"},
                     {"topic", "out"},
                     {"format", "json"},
                     // The library's own broker ends transactions with batches that have no checksum.
                     {"properties.check.crcs", "false"},
                     {"properties.bootstrap.servers", servers_}};
    return table;
  }
  Table Upsert() const {
    Table table = Append();
    table.primary_key = {0};
    table.options["connector"] = "upsert-kafka";
    table.options.erase("format");
    table.options["key.format"] = "raw";
    table.options["value.format"] = "json";
    return table;
  }
  Result<std::unique_ptr<Sink>> TryMakeSink(const Table& table) {
    return table.option("connector") == "kafka" ? append_.MakeSink(table, context_)
                                                : upsert_.MakeSink(table, context_);
  }
  std::unique_ptr<Sink> MakeSink(const Table& table) {
    auto sink = TryMakeSink(table);
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return std::move(sink).value();
  }
  Committable Prepare(Sink& sink, Epoch epoch, const Chunk& rows) {
    auto writer = sink.MakeWriter(0);
    EXPECT_TRUE(writer.ok());
    const Status written = (*writer)->Write(rows, rejects_);
    EXPECT_TRUE(written.ok()) << written.ToString();
    auto sealed = (*writer)->Seal(epoch);
    EXPECT_TRUE(sealed.ok());
    auto committable = (*sealed)->Prepare();
    EXPECT_TRUE(committable.ok()) << committable.status().ToString();
    return *committable;
  }
  // Each time as a new process.
  CommitResult Commit(Sink& sink, Epoch epoch, const Committable& committable) {
    auto committer = sink.MakeCommitter();
    EXPECT_TRUE(committer.ok());
    return (*committer)->Commit(epoch, std::span(&committable, 1));
  }
  void ExpectCommitted(Sink& sink, Epoch epoch, const Committable& committable) {
    const CommitResult result = Commit(sink, epoch, committable);
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
  }
  std::vector<std::string> Out() {
    std::vector<std::string> records = Contents(servers_, "out");
    std::sort(records.begin(), records.end());
    return records;
  }
  std::string Refusal(const Table& table) {
    const auto sink = TryMakeSink(table);
    EXPECT_FALSE(sink.ok());
    return sink.ok() ? "" : sink.status().ToString();
  }

  std::filesystem::path folder_;
  std::string servers_;
  KafkaConnector append_;
  UpsertKafkaConnector upsert_;
  ConnectorContext context_;
  Rejects rejects_;
  rd_kafka_t* broker_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

TEST_F(KafkaSinkTest, AppendsRowsWithoutAKey) {
  const auto sink = MakeSink(Append());
  EXPECT_EQ(sink->guarantee(), "exactly once");
  const Committable rows =
      Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}, {RowKind::kInsert, "a", 1}}));
  EXPECT_EQ(rows.rows_added, 2);
  EXPECT_THAT(Out(), IsEmpty());  // nothing before the commit
  ExpectCommitted(*sink, {1, 1}, rows);
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})", R"(NULL={"account":"a","n":1})"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "segments") &&
               !std::filesystem::is_empty(folder_ / "segments"));
}

TEST_F(KafkaSinkTest, AnEpochIsSentOnceHoweverOftenItIsRepeated) {
  const auto sink = MakeSink(Append());
  const auto copy = [&](Epoch epoch, int64_t n) {
    return Prepare(*sink, epoch, Rows({{RowKind::kInsert, "a", n}}));
  };
  const Committable first = copy({1, 1}, 1);
  const Committable again = copy({1, 2}, 1);  // the same rows in another file, which commits do not remove
  const Committable zombie = copy({1, 9}, 9);
  ExpectCommitted(*sink, {1, 1}, first);
  ExpectCommitted(*sink, {1, 1}, again);
  const Committable second = copy({2, 2}, 2);
  ExpectCommitted(*sink, {2, 2}, second);
  ExpectCommitted(*sink, {1, 9}, zombie);
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})", R"(NULL={"account":"a","n":2})"));
  EXPECT_EQ(*(*sink->MakeCommitter())->LastCommitted(), (Epoch{2, 2}));
  EXPECT_THAT(Contents(servers_, "__caudal_ledger").back(),
              "bank/features@0123:features/sink/1={\"generation\": 2, \"number\": 2}");
  // Another sink of the same query has its own.
  context_.sink = "features/sink/2";
  EXPECT_EQ(*(*MakeSink(Append())->MakeCommitter())->LastCommitted(), Epoch());
}

TEST_F(KafkaSinkTest, AtLeastOnceKeepsNoLedger) {
  Table table = Append();
  table.options["sink.delivery-guarantee"] = "at-least-once";
  const auto sink = MakeSink(table);
  EXPECT_EQ(sink->guarantee(), "at least once");
  ExpectCommitted(*sink, {1, 1}, Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}})));
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})"));
  EXPECT_THAT(Contents(servers_, "__caudal_ledger"), IsEmpty());
}

TEST_F(KafkaSinkTest, AtLeastOnceSendsAnEpochAgainOnlyIfItsEndWasNotNoted) {
  Table table = Append();
  table.options["sink.delivery-guarantee"] = "at-least-once";
  const auto sink = MakeSink(table);
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  rd_kafka_mock_push_request_errors(cluster_, 0 /* Produce */, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  EXPECT_EQ(Commit(*sink, {1, 1}, rows).outcome, CommitOutcome::kRefused);
  ExpectCommitted(*sink, {1, 1}, rows);
  ASSERT_TRUE((*sink->MakeCommitter())->RemoveLeftovers().ok());
  ExpectCommitted(*sink, {1, 1}, rows);  // as every start does
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})"));
  // What was not sent and is gone is lost.
  const Committable next = Prepare(*sink, {1, 2}, Rows({{RowKind::kInsert, "a", 2}}));
  std::filesystem::remove_all(folder_ / "segments");
  EXPECT_EQ(Commit(*sink, {1, 2}, next).outcome, CommitOutcome::kLost);
}

TEST_F(KafkaSinkTest, AnotherGuaranteeKnowsWhatTheFormerHasSent) {
  Table once = Append(), repeated = Append();
  repeated.options["sink.delivery-guarantee"] = "at-least-once";
  const auto start = [](Sink& sink) {
    auto committer = std::move(sink.MakeCommitter()).value();
    EXPECT_TRUE(committer->LastCommitted().ok());
    return committer;
  };
  const auto at_least_once = MakeSink(repeated);
  start(*at_least_once);
  const Committable first = Prepare(*at_least_once, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  ExpectCommitted(*at_least_once, {1, 1}, first);

  const auto exactly_once = MakeSink(once);
  const auto committer = start(*exactly_once);
  EXPECT_EQ(committer->ledger(std::span(&first, 1)), "");  // nobody has noted it in a ledger
  ExpectCommitted(*exactly_once, {1, 1}, first);
  const Committable second = Prepare(*exactly_once, {2, 2}, Rows({{RowKind::kInsert, "a", 2}}));
  ExpectCommitted(*exactly_once, {2, 2}, second);
  EXPECT_THAT(committer->ledger(std::span(&second, 1)), HasSubstr("topic '__caudal_ledger' of cluster '"));

  ExpectCommitted(*at_least_once, {2, 2}, second);
  EXPECT_EQ(start(*at_least_once)->ledger(std::span(&second, 1)), "");
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})", R"(NULL={"account":"a","n":2})"));
}

TEST_F(KafkaSinkTest, ALedgerThatKnowsLessThanBeforeStopsTheQuery) {
  const auto sink = MakeSink(Append());
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_TRUE(committer->LastCommitted().ok());
  const Committable first = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&first, 1)).outcome, CommitOutcome::kCommitted);
  const Committable second = Prepare(*sink, {1, 2}, Rows({{RowKind::kInsert, "a", 2}}));
  rd_kafka_mock_push_request_errors(cluster_, 26 /* EndTxn */, 1, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
  EXPECT_EQ(committer->Commit({1, 2}, std::span(&second, 1)).outcome, CommitOutcome::kUnknown);
  // A record of the past behind the last one: to a reader the same as a ledger that has lost it.
  auto other = std::move(KafkaProducer::Make({{"bootstrap.servers", servers_}}, "")).value();
  ASSERT_TRUE(other
                  ->Produce({.topic = "__caudal_ledger",
                             .partition = 0,
                             .key = "bank/features@0123:features/sink/1",
                             .value = R"({"generation": 0, "number": 9})"})
                  .ok());
  ASSERT_TRUE(other->Flush("__caudal_ledger").ok());
  const CommitResult result = committer->Commit({1, 2}, std::span(&second, 1));
  EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(result.status.ToString(), HasSubstr("is at epoch 0-9 and was at 1-1"));
  EXPECT_THAT(result.status.hint(), HasSubstr(R"(value '{"generation": 1, "number": 1}')"));
}

TEST_F(KafkaSinkTest, ATopicThatIsDeletedIsToldSoon) {
  const auto sink = MakeSink(Append());
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_TRUE(committer->LastCommitted().ok());
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  rd_kafka_mock_topic_set_error(cluster_, "out", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  std::vector<rd_kafka_resp_err_t> errors(1000, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  rd_kafka_mock_push_request_errors_array(cluster_, 0 /* Produce */, errors.size(), errors.data());
  const auto begun = std::chrono::steady_clock::now();
  CommitResult result = committer->Commit({1, 1}, std::span(&rows, 1));
  if (result.outcome == CommitOutcome::kUnknown) result = committer->Commit({1, 1}, std::span(&rows, 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(45));
  EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(result.status.ToString(), HasSubstr("there is no topic 'out'"));
  EXPECT_TRUE(std::filesystem::exists(SegmentReference::Parse({}, rows.payload).value().path));  // kept
}

TEST_F(KafkaSinkTest, WhatWasPreparedForAnotherClusterIsRefused) {
  const auto sink = MakeSink(Append());
  ASSERT_TRUE((*sink->MakeCommitter())->LastCommitted().ok());
  Committable rows = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  const std::string mark = " of cluster ";
  const size_t at = rows.payload.find(mark);
  ASSERT_NE(at, std::string::npos) << rows.payload;
  rows.payload.replace(at, mark.size(), " of cluster former-");
  const CommitResult result = Commit(*sink, {1, 1}, rows);
  EXPECT_EQ(result.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(result.status.ToString(),
              HasSubstr("its rows were prepared for 'topic out of cluster former-"));
  EXPECT_THAT(result.status.hint(), HasSubstr("'topic' and 'properties.bootstrap.servers'"));
}

TEST_F(KafkaSinkTest, TellsTheLibraryAndTheCompression) {
  Table table = Append();
  EXPECT_THAT(MakeSink(table)->client(),
              ElementsAre(std::pair("library", KafkaLibrary()), std::pair("compression", "zstd")));
  table.options["properties.compression.type"] = "lz4";
  EXPECT_EQ(MakeSink(table)->client()[1].second, "lz4");
}

// The library goes on without a word that anybody sees.
TEST_F(KafkaSinkTest, TellsOfABrokerThatDoesNotTakeTheCompression) {
  // The library takes it from the version of fetching that a broker knows, too.
  constexpr int16_t kFetch = 1, kLastBeforeZstd = 9;
  rd_kafka_mock_set_apiversion(cluster_, kFetch, 0, kLastBeforeZstd);
  const auto sink = MakeSink(Append());
  ExpectCommitted(*sink, {1, 1},
                  Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, std::string(2000, 'a'), 1}})));
  EXPECT_EQ(sink->client()[1].second, "none: a broker does not take zstd");
}

TEST_F(KafkaSinkTest, UpsertsTheLastRowOfAKeyAndDeletes) {
  const auto sink = MakeSink(Upsert());
  const Committable first = Prepare(*sink, {1, 1},
                                    Rows({{RowKind::kInsert, "a", 1},
                                          {RowKind::kInsert, "b", 1},
                                          {RowKind::kUpdateAfter, "a", 2},
                                          {RowKind::kDelete, "b", 1}}));
  EXPECT_EQ(first.rows_added, 3);
  EXPECT_EQ(first.rows_removed, 1);
  ExpectCommitted(*sink, {1, 1}, first);
  EXPECT_THAT(Out(), ElementsAre(R"(a={"account":"a","n":2})", "b=NULL"));
}

TEST_F(KafkaSinkTest, WritesKeysHeadersAndTimestamps) {
  Table table = Append();
  table.options["key.format"] = "json";
  table.options["key.fields"] = "account";
  table.options["value.fields-include"] = "EXCEPT_KEY";
  table.columns.push_back(ColumnOf("ts", Type::TimestampLtz(3), "timestamp"));
  table.columns.push_back(
      ColumnOf("h", Type::Map(Type::String().WithNullable(false), Type::Bytes()), "headers"));
  ColumnBuilder accounts(Type::String()), numbers{Type(TypeId::kBigInt)}, times(Type::TimestampLtz(3)),
      headers(table.columns[3].type);
  accounts.AppendString("a");
  numbers.Append(int64_t{7});
  times.Append(int64_t{1'700'000'000'123'000});
  headers.child(0).AppendString("trace");
  headers.child(1).AppendString("1-2");
  headers.child(0).AppendString("none");
  headers.child(1).AppendNull();
  headers.AppendList();
  const auto sink = MakeSink(table);
  const Chunk rows({accounts.Finish(), numbers.Finish(), times.Finish(), headers.Finish()}, 1);
  ExpectCommitted(*sink, {1, 1}, Prepare(*sink, {1, 1}, rows));
  EXPECT_THAT(Contents(servers_, "out", Whole),
              ElementsAre(R"({"account":"a"}={"n":7} @ 1700000000123 trace: 1-2, none: NULL)"));
}

TEST_F(KafkaSinkTest, ATimeThatKafkaDoesNotKeepIsRejected) {
  Table table = Append();
  table.columns.push_back(ColumnOf("ts", Type::TimestampLtz(3), "timestamp"));
  ColumnBuilder accounts(Type::String()), numbers{Type(TypeId::kBigInt)}, times(Type::TimestampLtz(3));
  for (const int64_t micros : {int64_t{-1}, int64_t{0}, int64_t{1000}}) {
    accounts.AppendString("a");
    numbers.Append(micros);
    times.Append(micros);
  }
  const auto sink = MakeSink(table);
  const Committable rows =
      Prepare(*sink, {1, 1}, Chunk({accounts.Finish(), numbers.Finish(), times.Finish()}, 3));
  constexpr char kWhy[] = ": its 'timestamp' is not after the beginning of 1970, and Kafka keeps no other";
  EXPECT_THAT(rejects_.rejected, ElementsAre(std::string("0") + kWhy, std::string("1") + kWhy));
  ExpectCommitted(*sink, {1, 1}, rows);
  EXPECT_THAT(Contents(servers_, "out", Whole), ElementsAre(R"(NULL={"account":"a","n":1000} @ 1)"));
}

TEST_F(KafkaSinkTest, ThePartitionerSaysWhereRecordsGo) {
  rd_kafka_mock_topic_create(cluster_, "three", 3, 1);
  const auto send = [&](const char* partitioner, Epoch epoch, int task) {
    Table table = Append();
    table.options["topic"] = "three";
    table.options["sink.partitioner"] = partitioner;
    const auto sink = MakeSink(table);
    auto writer = std::move(sink->MakeWriter(task)).value();
    for (int64_t n = 0; n < 6; ++n) {
      EXPECT_TRUE(writer->Write(Rows({{RowKind::kInsert, "a", n}}), rejects_).ok());
    }
    ExpectCommitted(*sink, epoch, (*writer->Seal(epoch))->Prepare().value());
  };
  send("round-robin", {1, 1}, 0);
  EXPECT_THAT(Contents(servers_, "three", Partition), ElementsAre("0", "0", "1", "1", "2", "2"));
  send("fixed", {1, 2}, 4);  // 4 tasks on, modulo three
  EXPECT_THAT(Contents(servers_, "three", Partition),
              ElementsAre("0", "0", "1", "1", "1", "1", "1", "1", "1", "1", "2", "2"));
}

TEST_F(KafkaSinkTest, ALedgerThatMayNotBeReadIsNoOutage) {
  const auto sink = MakeSink(Append());
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  ExpectCommitted(*sink, {1, 1}, rows);
  constexpr int16_t kFetch = 1;
  rd_kafka_mock_push_request_errors(cluster_, kFetch, 2, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                                    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const Status refused = (*sink->MakeCommitter())->LastCommitted().status();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.ToString(), HasSubstr("the ledger '__caudal_ledger'"));
  EXPECT_THAT(refused.hint(), HasSubstr("access lists"));
}

// What a coordinator or leader says while it changes; a commit gets over it, or is unknown and is repeated.
TEST_F(KafkaSinkTest, ErrorsThatPassLoseAndRepeatNothing) {
  constexpr int16_t kProduce = 0, kInitProducerId = 22, kAddPartitions = 24, kEndTransaction = 26;
  const std::pair<int16_t, rd_kafka_resp_err_t> kErrors[] = {
      {kProduce, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION},
      {kProduce, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR},
      {kProduce, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS},
      {kProduce, RD_KAFKA_RESP_ERR_PRODUCER_FENCED},
      {kInitProducerId, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS},
      {kInitProducerId, RD_KAFKA_RESP_ERR_NOT_COORDINATOR},
      {kAddPartitions, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS},
      {kAddPartitions, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH},
      {kEndTransaction, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS},
      {kEndTransaction, RD_KAFKA_RESP_ERR_NOT_COORDINATOR},
      {kEndTransaction, RD_KAFKA_RESP_ERR_PRODUCER_FENCED},
      {kEndTransaction, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH}};
  const auto sink = MakeSink(Append());
  int64_t number = 0;
  std::vector<std::string> expected;
  for (const auto& [request, error] : kErrors) {
    const Epoch epoch{1, ++number};
    const Committable rows = Prepare(*sink, epoch, Rows({{RowKind::kInsert, "a", number}}));
    expected.push_back("NULL={\"account\":\"a\",\"n\":" + std::to_string(number) + "}");
    rd_kafka_mock_push_request_errors(cluster_, request, 1, error);
    CommitResult result = Commit(*sink, epoch, rows);
    EXPECT_TRUE(result.outcome == CommitOutcome::kCommitted || result.outcome == CommitOutcome::kUnknown)
        << rd_kafka_err2name(error) << ": " << result.status.ToString();
    rd_kafka_mock_clear_request_errors(cluster_, request);
    if (result.outcome == CommitOutcome::kUnknown) ExpectCommitted(*sink, epoch, rows);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Out(), expected);
}

TEST_F(KafkaSinkTest, ARowThatNoBrokerTakesIsRejected) {
  Table table = Append();
  table.options["caudal.max-record-bytes"] = "40";
  const auto sink = MakeSink(table);
  const Committable rows = Prepare(*sink, {1, 1},
                                   Rows({{RowKind::kInsert, "a", 1},
                                         {RowKind::kInsert, std::string(50, 'b'), 2},
                                         {RowKind::kInsert, "c", 3}}));
  EXPECT_THAT(rejects_.rejected,
              ElementsAre("1: its record has 70 bytes, more than 'caudal.max-record-bytes' (40)"));
  EXPECT_EQ(rows.rows_added, 2);
  ExpectCommitted(*sink, {1, 1}, rows);
  EXPECT_THAT(Out(), ElementsAre(R"(NULL={"account":"a","n":1})", R"(NULL={"account":"c","n":3})"));
}

// A commit waits for a broker that is away and is repeated when it is back.
TEST_F(KafkaSinkTest, ARefusedRecordIsNoOutage) {
  const auto sink = MakeSink(Append());
  const Committable rows = Prepare(*sink, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  rd_kafka_mock_push_request_errors(cluster_, 0 /* Produce */, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  const CommitResult refused = Commit(*sink, {1, 1}, rows);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused) << refused.status.ToString();
  EXPECT_THAT(refused.status.ToString(), HasSubstr("topic 'out' at"));
  // The application-visible outcome of a fenced or timed-out end is unknown; then the ledger decides.
  rd_kafka_mock_push_request_errors(cluster_, 26 /* EndTxn */, 1, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
  const CommitResult unknown = Commit(*sink, {1, 1}, rows);
  EXPECT_EQ(unknown.outcome, CommitOutcome::kUnknown) << unknown.status.ToString();
  ExpectCommitted(*sink, {1, 1}, rows);
  EXPECT_EQ(*(*sink->MakeCommitter())->LastCommitted(), (Epoch{1, 1}));
}

TEST_F(KafkaSinkTest, WhatCannotBeWrittenIsRefusedByName) {
  Table table = Append();
  table.options["topic"] = "a;b";
  EXPECT_THAT(Refusal(table), HasSubstr("'topic' must name exactly one"));
  table = Append();
  table.options["sink.partitioner"] = "com.example.P";
  EXPECT_THAT(Refusal(table), HasSubstr("'sink.partitioner' is 'com.example.P'"));
  table = Append();
  table.options["sink.delivery-guarantee"] = "none";
  EXPECT_THAT(Refusal(table), HasSubstr("it can be 'exactly-once' or 'at-least-once'"));
  table = Append();
  table.options["properties.transactional.id"] = "x";
  EXPECT_THAT(Refusal(table), HasSubstr("'sink.transactional-id-prefix'"));
  table = Append();
  table.options["properties.acks"] = "1";
  EXPECT_THAT(Refusal(table), HasSubstr("'properties.acks' is '1'"));
  table = Append();
  table.options["properties.enable.idempotence"] = "false";
  EXPECT_THAT(Refusal(table), HasSubstr("'properties.enable.idempotence' is 'false'"));
  table = Append();
  table.options["properties.linger"] = "1";
  const auto sink = MakeSink(table);
  auto committer = sink->MakeCommitter();
  EXPECT_THAT((*committer)->LastCommitted().status().ToString(), HasSubstr("no property 'linger'"));
  table = Append();
  table.columns.push_back(ColumnOf("o", Type(TypeId::kBigInt), "offset"));
  EXPECT_THAT(Refusal(table), HasSubstr("column 'o' is metadata 'offset'"));
  table.columns.back() = ColumnOf("t", Type::String(), "topic");
  EXPECT_THAT(Refusal(table), HasSubstr("column 't' is metadata 'topic'"));
  table = Append();
  table.options["format"] = "raw";
  EXPECT_THAT(Refusal(table), HasSubstr("format 'raw' takes one column of STRING or BYTES, not 2 columns"));
  table = Upsert();
  table.primary_key.clear();
  EXPECT_THAT(Refusal(table), HasSubstr("needs a primary key"));
  table = Append();
  table.options["topic"] = "nowhere";
  const Status missing = MakeSink(table)->CheckTarget();
  EXPECT_THAT(missing.ok() ? "ok" : missing.ToString(), HasSubstr("there is no topic 'nowhere'"));
}

// A real broker at CAUDAL_TEST_KAFKA, where aborted transactions are seen by nobody.
class KafkaSinkOnABroker : public KafkaSinkTest {
 protected:
  void SetUp() override {
    const char* servers = std::getenv("CAUDAL_TEST_KAFKA");
    if (servers == nullptr) GTEST_SKIP() << "wants a broker at CAUDAL_TEST_KAFKA: make peer-kafka";
    KafkaSinkTest::SetUp();
    servers_ = servers;
  }
  void TearDown() override {
    if (broker_ != nullptr) KafkaSinkTest::TearDown();
  }
};

// The ledger is one for all sinks: what a killed run left open of one must not hold up another.
TEST_F(KafkaSinkOnABroker, ATransactionThatAKilledRunLeftOpenHoldsUpNoOtherSink) {
  Table table = Append();
  table.options["caudal.create-topic"] = "true";
  context_.identity = "open-" + std::to_string(getpid());
  const auto first = MakeSink(table);
  const Committable row = Prepare(*first, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  // The broker may have been started just now: the commit is repeated, as by the runtime.
  CommitResult result = Commit(*first, {1, 1}, row);
  for (int again = 0; result.outcome == CommitOutcome::kUnknown && again < 10; ++again) {
    result = Commit(*first, {1, 1}, row);
  }
  ASSERT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
  context_.sink = "features/sink/2";
  const auto second = MakeSink(table);
  const Committable rows = Prepare(*second, {1, 1}, Rows({{RowKind::kInsert, "b", 1}}));
  Faults::Arm(FaultPoint::database_commit, FaultAction::kError);
  EXPECT_EQ(Commit(*second, {1, 1}, rows).outcome, CommitOutcome::kUnknown);
  Faults::Disarm();
  const auto begun = std::chrono::steady_clock::now();
  const Result<Epoch> last = (*first->MakeCommitter())->LastCommitted();
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ(*last, (Epoch{1, 1}));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(*(*second->MakeCommitter())->LastCommitted(), Epoch());
  ExpectCommitted(*second, {1, 1}, rows);
}

TEST_F(KafkaSinkOnABroker, KeepsTheContractOfSinks) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("caudal-kafka-" + std::to_string(getpid()));
  int targets = 0;
  KafkaConnector append;
  UpsertKafkaConnector upsert;
  for (const bool by_key : {true, false}) {
    const int cut_short = CheckSinkContract([&] {
      const std::string topic = "contract-" + std::to_string(getpid()) + "-" + std::to_string(targets++);
      Table table;
      table.name = "features";
      table.columns = {ColumnOf("account", Type::String().WithNullable(false)),
                       ColumnOf("n", Type(TypeId::kBigInt))};
      table.options = {{"topic", topic}, {"properties.bootstrap.servers", servers_}};
      if (by_key) {
        table.primary_key = {0};
        table.options.insert(
            {{"connector", "upsert-kafka"}, {"key.format", "raw"}, {"value.format", "json"}});
      } else {
        // A key, as the topic is compacted.
        table.options.insert(
            {{"connector", "kafka"}, {"format", "json"}, {"key.format", "raw"}, {"key.fields", "account"}});
      }
      auto admin = KafkaProducer::Make({{"bootstrap.servers", servers_}}, "");
      EXPECT_TRUE(admin.ok() && (*admin)->MakeCompactedTopic(topic).ok());
      SinkUnderTest test;
      test.rows = [by_key](int64_t number) {
        const std::string account = "a" + std::to_string(number);
        if (!by_key) return Rows({{RowKind::kInsert, account, number}, {RowKind::kInsert, "all", number}});
        return Rows({{RowKind::kInsert, account, number},
                     {RowKind::kUpdateAfter, "all", number},
                     {RowKind::kDelete, "a" + std::to_string(number - 2), number - 2}});
      };
      test.open = [&, table, root, topic](int64_t generation) -> Result<std::unique_ptr<Sink>> {
        ConnectorContext context;
        context.files = FileSystem::Local();
        context.query = "bank/features";
        context.identity = topic;
        context.sink = "features/sink/1";
        context.segment_dir = root / topic;
        context.generation = generation;
        return by_key ? upsert.MakeSink(table, context) : append.MakeSink(table, context);
      };
      test.contents = [servers = servers_, topic] {
        std::string text;
        for (const std::string& record : Contents(servers, topic)) text += record + "\n";
        return text;
      };
      return test;
    });
    EXPECT_GT(cut_short, 0) << "a process dies before its transaction is committed";
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace caudal
