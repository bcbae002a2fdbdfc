#include "server/cli/dead_letters/topic_letters.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/fault_point.h"
#include "connect/kafka/kafka_fetcher.h"
#include "connect/kafka/kafka_options.h"
#include "connect/kafka/sink/kafka_envelope.h"
#include "run/plan_tables.h"
#include "server/cli/dead_letters/letter_of_record.h"

namespace caudal {
namespace {

constexpr int kCallMillis = 20'000;
constexpr size_t kBatchRecords = 4096;
constexpr size_t kLettersPerTransaction = 5'000;

// All committed records of a partition that are there now.
template <typename Visit>
Status ReadPartition(KafkaClient* client, const KafkaPartitionId& partition, Visit visit) {
  ASSIGN_OR_RETURN(const KafkaRange range, client->Range(partition, kCallMillis));
  if (range.low >= range.high) return Status();
  KafkaFetcher::Begin begin;
  begin.partition = partition;
  begin.start = range.low;
  begin.stop = range.high;
  begin.with_headers = true;
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaFetcher> fetcher,
                   KafkaFetcher::Open(client, Env::Real(), std::move(begin)));
  KafkaRecords records;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kCallMillis);
  while (!fetcher->finished()) {
    const int64_t before = fetcher->next();
    RETURN_IF_ERROR(fetcher->Take(kBatchRecords, &records));
    for (size_t i = 0; i < records.batch.records.size(); ++i)
      RETURN_IF_ERROR(visit(LetterOfRecord(records, i)));
    const auto now = std::chrono::steady_clock::now();
    if (fetcher->next() > before) {
      deadline = now + std::chrono::milliseconds(kCallMillis);
    } else if (now > deadline) {
      return Status::External(
          fmt::format("{}[{}] cannot be read to its end: it stands at {} of {}; {}", partition.topic,
                      partition.partition, fetcher->next(), range.high, client->last_complaint()),
          Retry::kBackoff);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return Status();
}

std::string ValueOf(const Mark& mark) {
  nlohmann::ordered_json json = {{"what", MarkName(mark.what)}, {"at", mark.at_millis}};
  if (!mark.reason.empty()) json["reason"] = mark.reason;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<std::unique_ptr<LetterStore>> TopicLetters::Open(const Program& program, const Table& table) {
  std::unique_ptr<TopicLetters> letters(new TopicLetters());
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(KafkaTableOptions options, KafkaTableOptions::ForSink(revealed, false));
  const TableColumn* headers = table.FindColumn("headers");
  if (headers == nullptr || headers->kind != TableColumn::Kind::kMetadata) {
    return Status::User(
               fmt::format(
                   "dead-letter table '{}' writes no headers, so its records do not say what they are",
                   table.name))
        .Hint("declare a column: headers MAP<STRING, BYTES> METADATA");
  }
  letters->pipeline_ = program.text().name;
  letters->topic_ = options.topics[0];
  letters->properties_ = std::move(options.properties);
  for (const Plan& plan : program.Queries()) {
    for (const PlanNode& node : plan.nodes) {
      const ScanNode* scan = node.as<ScanNode>();
      if (scan == nullptr) continue;
      ASSIGN_OR_RETURN(const Table source, Revealed(scan->table));
      letters->servers_of_[scan->table.name] = source.option("properties.bootstrap.servers");
    }
  }
  return std::unique_ptr<LetterStore>(std::move(letters));
}

Result<std::string> TopicLetters::MissingTopic(const Table& table) {
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(const KafkaTableOptions options, KafkaTableOptions::ForSink(revealed, false));
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> client,
                   KafkaClient::Make(options.properties, "caudal-dlq"));
  ASSIGN_OR_RETURN(const KafkaTopic topic, client->Topic(options.topics[0], kCallMillis));
  return topic.partitions > 0 ? std::string() : fmt::format("topic '{}'", topic.name);
}

Result<Marks> TopicLetters::ReadMarks() {
  Marks marks;
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> client, KafkaClient::Make(properties_, "caudal-dlq"));
  ASSIGN_OR_RETURN(const KafkaTopic topic, client->Topic(handled_topic(), kCallMillis));
  if (topic.partitions == 0) return marks;
  RETURN_IF_ERROR(ReadPartition(client.get(), {handled_topic(), 0}, [&](const Letter& record) -> Status {
    const auto json = nlohmann::json::parse(record.raw.value_or(""), nullptr, false);
    Result<Mark> mark = ReadMark(json);
    if (!mark.ok() || !record.key) {
      return Status::Data(
                 fmt::format("topic '{}' holds a record that is no note of a dead letter", handled_topic()))
          .Hint("it is caudal's alone: see who else writes to it");
    }
    marks[*record.key] = std::move(mark).value();
    return Status();
  }));
  return marks;
}

Status TopicLetters::Read(const LetterVisitor& visit) {
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> client, KafkaClient::Make(properties_, "caudal-dlq"));
  ASSIGN_OR_RETURN(const KafkaTopic topic, client->Topic(topic_, kCallMillis));
  for (int partition = 0; partition < topic.partitions; ++partition) {
    RETURN_IF_ERROR(ReadPartition(client.get(), {topic_, partition}, [&](const Letter& letter) -> Status {
      // Pipelines may share a topic, and others may write to it.
      return letter.query.starts_with(pipeline_ + "/") ? visit(letter) : Status();
    }));
  }
  return Status();
}

Status TopicLetters::CheckNotes(KafkaClient* client) const {
  ASSIGN_OR_RETURN(const KafkaTopic notes, client->Topic(handled_topic(), kCallMillis));
  if (notes.partitions <= 1) return Status();
  return Status::User(fmt::format("topic '{}' has {} partitions, and that of the notes has one", notes.name,
                                  notes.partitions));
}

Status TopicLetters::CheckTarget(const Letter& letter, KafkaClient* client) {
  const std::string here = properties_.at("bootstrap.servers");
  const auto servers = servers_of_.find(letter.source);
  if (letter.topic.empty()) {
    return Status::User(fmt::format("the record at {} of '{}' is of a file, not of a topic", letter.offset,
                                    letter.file))
        .Hint("keep dead letters of files in a table of files: they are replayed by files");
  }
  if (servers != servers_of_.end() && servers->second != here) {
    return Status::User(
               fmt::format(
                   "topic '{}' is at '{}' and its dead letters are at '{}': no transaction reaches both",
                   letter.topic, servers->second, here))
        .Hint("keep the dead letters in the cluster of their topic");
  }
  if (!partitions_.contains(letter.topic)) {
    ASSIGN_OR_RETURN(const KafkaTopic topic, client->Topic(letter.topic, kCallMillis));
    if (topic.partitions == 0) {
      return Status::User(fmt::format("a dead letter is of {}, and there is no topic '{}' any more",
                                      letter.origin(), letter.topic))
          .Hint("make the topic again, or note with 'caudal dlq discard' that nothing is to be done");
    }
    partitions_[letter.topic] = topic.partitions;
  }
  if (letter.partition < partitions_[letter.topic]) return Status();
  return Status::User(fmt::format("a dead letter is of {}, and topic '{}' has {} partitions now",
                                  letter.origin(), letter.topic, partitions_[letter.topic]));
}

Status TopicLetters::Commit(const std::vector<Letter>& letters, const Mark& mark, KafkaProducer* producer) {
  if (letters.empty()) return Status();
  RETURN_IF_ERROR(producer->Begin());
  const std::string note = ValueOf(mark), notes = handled_topic();
  for (const Letter& letter : letters) {
    if (mark.what == Mark::What::kReplayed) {
      OutgoingRecord record;
      record.topic = letter.topic;
      record.partition = letter.partition;
      if (letter.key) record.key = std::string_view(letter.key->data(), letter.key->size());
      if (letter.raw) record.value = std::string_view(letter.raw->data(), letter.raw->size());
      record.timestamp_millis = letter.timestamp_millis;
      std::string headers;
      for (const auto& [name, value] : letter.headers) {
        const std::string_view bytes = value ? std::string_view(*value) : std::string_view();
        AppendHeader(name, value ? &bytes : nullptr, &headers);
      }
      record.headers = headers;
      RETURN_IF_ERROR(producer->Produce(record));
    }
    const std::string id = letter.id();
    RETURN_IF_ERROR(producer->Produce({.topic = notes, .partition = 0, .key = id, .value = note}));
  }
  RETURN_IF_ERROR(producer->Flush(notes));
  FAULT_POINT(database_commit);
  return producer->Commit();
}

Result<HandledLetters> TopicLetters::Handle(const LetterSelection& selection, const Mark& mark, bool dry) {
  ASSIGN_OR_RETURN(const std::unique_ptr<KafkaClient> client, KafkaClient::Make(properties_, "caudal-dlq"));
  RETURN_IF_ERROR(CheckNotes(client.get()));
  std::unique_ptr<KafkaProducer> producer;
  if (!dry) {
    ASSIGN_OR_RETURN(producer, KafkaProducer::Make(properties_, "caudal-dlq-" + topic_));
    RETURN_IF_ERROR(producer->MakeCompactedTopic(handled_topic()));
  }
  // Now that no older transaction of this id is open, the notes are all there.
  ASSIGN_OR_RETURN(Marks marks, ReadMarks());
  HandledLetters handled;
  std::vector<Letter> batch;
  RETURN_IF_ERROR(Read([&](const Letter& letter) -> Status {
    if (!selection.Matches(letter) || !TakeLetter(letter, mark, &marks, &handled)) return Status();
    if (mark.what == Mark::What::kReplayed) RETURN_IF_ERROR(CheckTarget(letter, client.get()));
    if (dry) return Status();
    batch.push_back(letter);
    if (batch.size() < kLettersPerTransaction) return Status();
    RETURN_IF_ERROR(Commit(batch, mark, producer.get()));
    batch.clear();
    return Status();
  }));
  if (!dry) RETURN_IF_ERROR(Commit(batch, mark, producer.get()));
  return handled;
}

}  // namespace caudal
