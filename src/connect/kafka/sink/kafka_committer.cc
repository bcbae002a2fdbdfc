#include "connect/kafka/sink/kafka_committer.h"

#include <fmt/format.h>

#include "base/fault_point.h"
#include "connect/kafka/sink/kafka_ledger.h"

namespace caudal {

Status KafkaCommitter::Connect() {
  if (producer_ != nullptr) return Status();
  std::string id;
  if (transactional()) {
    id = fmt::format("{}-{}-{}", options_.transactional_id_prefix, context_.identity, context_.sink);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<KafkaProducer> producer,
                   KafkaProducer::Make(options_.table.properties, id));
  Result<int32_t> partitions = options_.create_topic ? producer->PartitionsOrMake(options_.topic)
                                                     : producer->AwaitPartitions(options_.topic);
  ASSIGN_OR_RETURN(partitions_, std::move(partitions));
  if (has_ledger()) {
    RETURN_IF_ERROR(producer->MakeCompactedTopic(options_.ledger_topic));
    ASSIGN_OR_RETURN(
        last_, ReadKafkaLedger(options_.table.properties, options_.ledger_topic, KafkaLedgerKey(context_)));
  }
  producer_ = std::move(producer);
  return Status();
}

Result<Epoch> KafkaCommitter::LastCommitted() {
  if (!has_ledger()) return Epoch();
  Status status = Connect();
  if (!status.ok()) return std::move(status).At(options_.frame());
  return last_;
}

CommitResult KafkaCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = Send(epoch, committables, &lost);
  if (producer_ != nullptr && producer_->compression_refused()) *compression_refused_ = true;
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

Status KafkaCommitter::Send(Epoch epoch, std::span<const Committable> committables, bool* lost) {
  RETURN_IF_ERROR(Connect());
  if (has_ledger() && last_ >= epoch) return Status();
  if (transactional()) RETURN_IF_ERROR(producer_->Begin());
  RETURN_IF_ERROR(SendRows(committables, lost));
  if (!transactional()) {
    FAULT_POINT(database_commit);
    return producer_->Flush();
  }
  // Acknowledged first: the ledger's record holds up who reads the ledger until the transaction ends.
  RETURN_IF_ERROR(producer_->Flush());
  if (has_ledger()) {
    const std::string key = KafkaLedgerKey(context_), value = KafkaLedgerValue(epoch);
    RETURN_IF_ERROR(
        producer_->Produce({.topic = options_.ledger_topic, .partition = 0, .key = key, .value = value}));
    RETURN_IF_ERROR(producer_->Flush());
  }
  FAULT_POINT(database_commit);
  RETURN_IF_ERROR(producer_->Commit());
  last_ = epoch;
  return Status();
}

Status KafkaCommitter::SendRows(std::span<const Committable> committables, bool* lost) {
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    RETURN_IF_ERROR(reference.CheckTarget(form_, "'topic'"));
    ASSIGN_OR_RETURN(SegmentRecords records, SegmentRecords::OfFile(context_.files, reference, lost));
    RETURN_IF_ERROR(SendKafkaSegment(&records, partitions_, producer_.get()));
  }
  return Status();
}

}  // namespace caudal
