#include "connect/kafka/sink/kafka_committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <thread>

#include "base/fault_point.h"
#include "connect/kafka/sink/kafka_ledger.h"
#include "connect/kafka/sink/kafka_sink_writer.h"

namespace caudal {
namespace {

constexpr int kLooksAtOlderLedger = 4;
constexpr std::chrono::seconds kOlderLedgerPause{1};

using Properties = std::map<std::string, std::string>;

constexpr std::string_view kBatchSize = "batch.size";

int64_t BatchBytes(const Properties& properties) {
  int64_t bytes = 1'000'000;  // KafkaProducer's own
  const auto found = properties.find(std::string(kBatchSize));
  if (found == properties.end()) return bytes;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && end == text.data() + text.size() ? bytes : 0;  // the library refuses it
}

// Brokers measure batches, and the client does not cut one that is refused.
Properties WithBatchesUpTo(int64_t bytes, Properties properties) {
  if (bytes < BatchBytes(properties)) properties[std::string(kBatchSize)] = std::to_string(bytes);
  return properties;
}

// Not as segments are called, which are removed.
std::string SentName(const SegmentForm& form) {
  const std::string prefix = form.file_prefix();
  return prefix.substr(0, prefix.size() - 1) + ".sent";
}

}  // namespace

KafkaCommitter::KafkaCommitter(KafkaSinkOptions options, ConnectorContext context, KafkaSinkFacts* facts)
    : options_(std::move(options)),
      context_(std::move(context)),
      facts_(facts),
      form_(KafkaSegmentForm(options_, 0, {})),
      sent_(context_.files, context_.segment_dir + "/" + SentName(form_)) {}

std::string KafkaCommitter::transactional_id() const {
  return fmt::format("{}-{}-{}", options_.transactional_id_prefix, context_.identity, context_.sink);
}

Status KafkaCommitter::Connect() {
  if (producer_ != nullptr) return Status();
  ASSIGN_OR_RETURN(std::unique_ptr<KafkaProducer> producer, MakeProducer());
  ASSIGN_OR_RETURN(cluster_, producer->ClusterId());
  form_ = KafkaSegmentForm(options_, 0, cluster_);
  if (has_ledger()) RETURN_IF_ERROR(ReadLedger(producer.get()));
  producer_ = std::move(producer);
  return Status();
}

Result<std::unique_ptr<KafkaProducer>> KafkaCommitter::MakeProducer() {
  for (;;) {
    const Properties properties =
        WithBatchesUpTo(KafkaRecordLimit(facts_->limits()), options_.table.properties);
    ASSIGN_OR_RETURN(std::unique_ptr<KafkaProducer> producer,
                     KafkaProducer::Make(properties, transactional() ? transactional_id() : std::string()));
    Result<int32_t> partitions = options_.create_topic ? producer->PartitionsOrMake(options_.topic)
                                                       : producer->AwaitPartitions(options_.topic);
    ASSIGN_OR_RETURN(partitions_, std::move(partitions));
    facts_->SetLimits(producer->Limits(options_.topic));
    // The size of batches is set for the producer's life.
    if (KafkaRecordLimit(facts_->limits()) >= BatchBytes(properties)) return producer;
  }
}

Status KafkaCommitter::ReadLedger(KafkaProducer* producer) {
  RETURN_IF_ERROR(producer->MakeCompactedTopic(options_.ledger_topic));
  for (int look = 1;; ++look) {
    ASSIGN_OR_RETURN(const Epoch known, ReadKafkaLedger(options_.table.properties, options_.ledger_topic,
                                                        KafkaLedgerKey(context_)));
    if (known >= last_) {
      last_ = known;
      return Status();
    }
    // A broker that leads since a moment ago may not know its end yet.
    if (look == kLooksAtOlderLedger) return LostLedger(known);
    std::this_thread::sleep_for(kOlderLedgerPause);
  }
}

// While it runs; a start compares the ledger with the checkpoint.
Status KafkaCommitter::LostLedger(const Epoch& known) const {
  return Status::Data(
             fmt::format("the ledger '{}' of cluster '{}' is at epoch {}-{} and was at {}-{}: it was "
                         "emptied or made anew, or the brokers are those of another cluster",
                         options_.ledger_topic, cluster_, known.generation, known.number, last_.generation,
                         last_.number))
      .Hint(
          fmt::format("bring the former cluster or ledger back; or, if only the ledger was lost and the rows "
                      "are there, write a record to it: key '{}', value '{}'",
                      KafkaLedgerKey(context_), KafkaLedgerValue(last_)));
}

Result<Epoch> KafkaCommitter::LastCommitted() {
  if (!has_ledger()) return Epoch();
  Status status = Connect();
  if (!status.ok()) return std::move(status).At(options_.frame());
  if (facts_->cluster.empty()) facts_->cluster = cluster_;
  return last_;
}

std::string KafkaCommitter::ledger(std::span<const Committable> committables) const {
  if (!has_ledger()) return {};
  for (const Committable& committable : committables) {
    const Result<SegmentReference> reference = SegmentReference::Parse(form_, committable.payload);
    if (!reference.ok() || !HasKafkaLedger(*reference))
      return {};  // written at least once, or before ledgers
  }
  if (committables.empty()) return {};
  return fmt::format("topic '{}' of cluster '{}'; {}", options_.ledger_topic, cluster_, options_.frame());
}

CommitResult KafkaCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = Send(epoch, committables, &lost);
  if (producer_ != nullptr && producer_->compression_refused()) facts_->compression_refused = true;
  if (status.ok()) {
    RemoveSegments(context_.files, form_, committables);
    return {};
  }
  producer_.reset();
  const CommitOutcome outcome = lost                                   ? CommitOutcome::kLost
                                : status.domain() == Domain::kExternal ? CommitOutcome::kUnknown
                                                                       : CommitOutcome::kRefused;
  return {outcome, std::move(status).At(options_.frame())};
}

// As far as the guarantee of now does not tell: the table's may have been another when the epoch was sent.
Result<bool> KafkaCommitter::SentBefore(Epoch epoch, std::span<const Committable> committables) {
  if (context_.ephemeral) return false;
  ASSIGN_OR_RETURN(const Epoch noted, sent_.Read());
  if (noted >= epoch) return true;
  if (has_ledger()) return false;
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    if (!HasKafkaLedger(reference)) return false;
  }
  if (committables.empty()) return false;
  // Ends the transaction that the run before may have left open.
  RETURN_IF_ERROR(KafkaProducer::Make(options_.table.properties, transactional_id()).status());
  ASSIGN_OR_RETURN(const Epoch last, ReadKafkaLedger(options_.table.properties, options_.ledger_topic,
                                                     KafkaLedgerKey(context_)));
  return last >= epoch;
}

Status KafkaCommitter::Send(Epoch epoch, std::span<const Committable> committables, bool* lost) {
  RETURN_IF_ERROR(Connect());
  if (has_ledger() && last_ >= epoch) return Status();
  ASSIGN_OR_RETURN(const bool sent, SentBefore(epoch, committables));
  if (sent) return Status();
  if (transactional()) RETURN_IF_ERROR(producer_->Begin());
  RETURN_IF_ERROR(SendRows(committables, lost));
  // Acknowledged first: the ledger's record holds up who reads the ledger until the transaction ends.
  if (transactional()) RETURN_IF_ERROR(producer_->Flush(options_.topic));
  if (has_ledger()) RETURN_IF_ERROR(NoteInLedger(epoch));
  FAULT_POINT(database_commit);
  RETURN_IF_ERROR(transactional() ? producer_->Commit() : producer_->Flush(options_.topic));
  last_ = epoch;
  return transactional() || context_.ephemeral ? Status() : sent_.Note(epoch);
}

Status KafkaCommitter::NoteInLedger(Epoch epoch) {
  const std::string key = KafkaLedgerKey(context_), value = KafkaLedgerValue(epoch);
  RETURN_IF_ERROR(
      producer_->Produce({.topic = options_.ledger_topic, .partition = 0, .key = key, .value = value}));
  return producer_->Flush(options_.ledger_topic);
}

Status KafkaCommitter::SendRows(std::span<const Committable> committables, bool* lost) {
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    RETURN_IF_ERROR(reference.CheckTarget(form_, "'topic' and 'properties.bootstrap.servers'"));
    ASSIGN_OR_RETURN(SegmentRecords records, SegmentRecords::OfFile(context_.files, reference, lost));
    RETURN_IF_ERROR(SendKafkaSegment(&records, partitions_, producer_.get()));
  }
  return Status();
}

}  // namespace caudal
