#include "connect/kafka/testing/kafka_sink_fixture.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <unistd.h>

#include <algorithm>

#include "data/column_builder.h"

namespace caudal {
namespace {

constexpr int kReadMillis = 20'000;

}  // namespace

void RowsRefused::Reject(const Chunk&, RowSet rows, std::string message) {
  for (int32_t i = 0; i < rows.count; ++i) rejected.push_back(std::to_string(rows[i]) + ": " + message);
}

Chunk Rows(const std::vector<AccountRow>& rows) {
  ColumnBuilder accounts(Type::String().WithNullable(false)), numbers{Type(TypeId::kBigInt)};
  std::vector<RowKind> kinds;
  bool insert_only = true;
  for (const AccountRow& row : rows) {
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

std::string WholeRecord(const rd_kafka_message_t& message) {
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

std::vector<std::string> Contents(const std::string& servers, const std::string& topic,
                                  std::string (*describe)(const rd_kafka_message_t&)) {
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

void KafkaSinkTest::SetUp() {
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

void KafkaSinkTest::TearDown() {
  rd_kafka_destroy(broker_);
  std::filesystem::remove_all(folder_);
}

Table KafkaSinkTest::Append() const {
  Table table;
  table.name = "features";
  table.columns = {Named("account", Type::String().WithNullable(false)), Named("n", Type(TypeId::kBigInt))};
  table.options = {{"connector", "kafka"},
                   {"topic", "out"},
                   {"format", "json"},
                   // The library's own broker ends transactions with batches that have no checksum.
                   {"properties.check.crcs", "false"},
                   {"properties.bootstrap.servers", servers_}};
  return table;
}

Table KafkaSinkTest::Upsert() const {
  Table table = Append();
  table.primary_key = {0};
  table.options["connector"] = "upsert-kafka";
  table.options.erase("format");
  table.options["key.format"] = "raw";
  table.options["value.format"] = "json";
  return table;
}

Result<std::unique_ptr<Sink>> KafkaSinkTest::TryMakeSink(const Table& table) {
  return table.option("connector") == "kafka" ? append_.MakeSink(table, context_)
                                              : upsert_.MakeSink(table, context_);
}

std::unique_ptr<Sink> KafkaSinkTest::MakeSink(const Table& table) {
  auto sink = TryMakeSink(table);
  EXPECT_TRUE(sink.ok()) << sink.status().ToString();
  return std::move(sink).value();
}

Committable KafkaSinkTest::Prepare(Sink& sink, Epoch epoch, const Chunk& rows) {
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

CommitResult KafkaSinkTest::Commit(Sink& sink, Epoch epoch, const Committable& committable) {
  auto committer = sink.MakeCommitter();
  EXPECT_TRUE(committer.ok());
  return (*committer)->Commit(epoch, std::span(&committable, 1));
}

void KafkaSinkTest::ExpectCommitted(Sink& sink, Epoch epoch, const Committable& committable) {
  const CommitResult result = Commit(sink, epoch, committable);
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
}

std::vector<std::string> KafkaSinkTest::Out() {
  std::vector<std::string> records = Contents(servers_, "out");
  std::sort(records.begin(), records.end());
  return records;
}

std::string KafkaSinkTest::Refusal(const Table& table) {
  const auto sink = TryMakeSink(table);
  EXPECT_FALSE(sink.ok());
  return sink.ok() ? "" : sink.status().ToString();
}

}  // namespace caudal
