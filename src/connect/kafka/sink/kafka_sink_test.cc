#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "api/segment/segment_file.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/testing/kafka_sink_fixture.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Partition(const rd_kafka_message_t& message) { return std::to_string(message.partition); }

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
  table.columns.push_back(Named("ts", Type::TimestampLtz(3), "timestamp"));
  table.columns.push_back(
      Named("h", Type::Map(Type::String().WithNullable(false), Type::Bytes()), "headers"));
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
  EXPECT_THAT(Contents(servers_, "out", WholeRecord),
              ElementsAre(R"({"account":"a"}={"n":7} @ 1700000000123 trace: 1-2, none: NULL)"));
}

TEST_F(KafkaSinkTest, ATimeThatKafkaDoesNotKeepIsRejected) {
  Table table = Append();
  table.columns.push_back(Named("ts", Type::TimestampLtz(3), "timestamp"));
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
  EXPECT_THAT(Contents(servers_, "out", WholeRecord), ElementsAre(R"(NULL={"account":"a","n":1000} @ 1)"));
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
  table.columns.push_back(Named("o", Type(TypeId::kBigInt), "offset"));
  EXPECT_THAT(Refusal(table), HasSubstr("column 'o' is metadata 'offset'"));
  table.columns.back() = Named("t", Type::String(), "topic");
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

}  // namespace
}  // namespace caudal
