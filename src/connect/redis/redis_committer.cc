#include "connect/redis/redis_committer.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/redis/redis_script.h"
#include "connect/redis/redis_writer.h"
#include "data/text/number_text.h"

namespace caudal {

RedisCommitter::RedisCommitter(RedisTarget target, ConnectorContext context, AcknowledgedEpoch* acknowledged)
    : target_(std::move(target)),
      form_(RedisSegmentForm(target_)),
      context_(std::move(context)),
      ledger_(fmt::format("caudal:ledger:{}@{}:{}", context_.query, context_.identity, context_.sink)),
      acknowledged_(acknowledged) {}

Status RedisCommitter::Connect() {
  if (connection_ != nullptr) return Status();
  ASSIGN_OR_RETURN(std::unique_ptr<RedisConnection> connection, RedisConnection::Open(&target_));
  ASSIGN_OR_RETURN(const RedisAnswer loaded,
                   connection->Call(RedisCommand().Add("SCRIPT").Add("LOAD").Add(kRedisCommitScript)));
  script_ = loaded.text;
  target_.met = true;
  connection_ = std::move(connection);
  return Status();
}

Result<RedisCommitter::Ledger> RedisCommitter::ReadLedger() {
  RETURN_IF_ERROR(Connect());
  RedisCommand command;
  command.Add("HMGET").Add(std::string_view(ledger_)).Add("generation").Add("number").Add("complete");
  ASSIGN_OR_RETURN(const RedisAnswer answer, connection_->Call(command));
  Ledger ledger;
  if (answer.list.size() != 3 || answer.list[0].kind == RedisAnswer::Kind::kNull) return ledger;
  if (!ParseWholeInteger(answer.list[0].text, &ledger.epoch.generation) ||
      !ParseWholeInteger(answer.list[1].text, &ledger.epoch.number)) {
    return Status::Data(fmt::format("the ledger '{}' in the server is damaged", ledger_))
        .Hint("build the table anew under another --state folder");
  }
  ledger.complete = answer.list[2].text == "1";
  return ledger;
}

Result<Epoch> RedisCommitter::LastCommitted() {
  if (context_.ephemeral) return Epoch();
  Result<Ledger> ledger = ReadLedger();
  if (!ledger.ok()) {
    connection_.reset();
    return std::move(ledger).status().At(target_.frame());
  }
  acknowledged_->Raise(ledger->epoch);
  return ledger->epoch;
}

CommitResult RedisCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = Apply(epoch, committables, &lost);
  if (!status.ok()) {
    connection_.reset();  // the next call starts from a fresh connection
    return Answer(std::move(status), lost);
  }
  acknowledged_->Raise(epoch);
  RemoveSegments(context_.files, form_, committables);
  return {};
}

Status RedisCommitter::Apply(Epoch epoch, std::span<const Committable> committables, bool* lost) {
  RETURN_IF_ERROR(Connect());
  RedisPipeline::Attempt attempt;
  attempt.ledger = ledger_;
  attempt.name = fmt::format("{:016x}", context_.env->Random());
  Ledger ledger;
  if (!context_.ephemeral) {
    attempt.epoch = epoch;
    attempt.least = acknowledged_->get();
    for (const Committable& committable : committables) {
      attempt.least = std::max(attempt.least, RedisWriter::AcknowledgedIn(committable.payload));
    }
    // Segments of an epoch that the server has may be gone already.
    ASSIGN_OR_RETURN(ledger, ReadLedger());
    if (ledger.epoch < attempt.least) return RedisPipeline::LostEpochs(ledger_, ledger.epoch, attempt.least);
    if (ledger.epoch > epoch) return Status();
    if (ledger.epoch == epoch && ledger.complete) return ConfirmAgain();
  }
  RedisPipeline pipeline(connection_.get(), &script_, std::move(attempt));
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    RETURN_IF_ERROR(reference.CheckTarget(form_, "'hostname', 'port' and 'database'"));
    Status status = ApplySegment(reference, &pipeline, lost);
    if (*lost && !context_.ephemeral) return Gone(std::move(status), ledger, epoch);
    RETURN_IF_ERROR(status);
  }
  RETURN_IF_ERROR(pipeline.Finish());
  return WaitForReplicas();
}

// WAIT is about the writes of its own connection, so there must be one.
Status RedisCommitter::ConfirmAgain() {
  if (target_.wait_replicas == 0) return Status();
  RedisCommand touch;
  touch.Add("HSET").Add(std::string_view(ledger_)).Add("confirmed");
  touch.Add(std::string_view(fmt::format("{:016x}", context_.env->Random())));
  RETURN_IF_ERROR(connection_->Call(touch).status());
  return WaitForReplicas();
}

Status RedisCommitter::WaitForReplicas() {
  if (target_.wait_replicas == 0) return Status();
  RedisCommand wait;
  wait.Add("WAIT").Add(int64_t{target_.wait_replicas}).Add(std::max<int64_t>(target_.answer_millis / 2, 1));
  ASSIGN_OR_RETURN(const RedisAnswer answer, connection_->Call(wait));
  if (answer.integer >= target_.wait_replicas) return Status();
  return Status::External(
             fmt::format("{} of the {} replicas that 'caudal.wait-replicas' asks for have the epoch",
                         answer.integer, target_.wait_replicas),
             Retry::kBackoff)
      .Hint("start the replicas, or let them catch up; it is tried again");
}

Status RedisCommitter::Gone(Status why, const Ledger& ledger, Epoch epoch) const {
  return std::move(why).Hint(
      fmt::format("the server's ledger is at epoch {}-{}: if it was further once, the server has lost what "
                  "it had acknowledged "
                  "('appendfsync always' keeps it); to go on without the rows, run there: HSET '{}' "
                  "generation {} number {} "
                  "complete 1",
                  ledger.epoch.generation, ledger.epoch.number, ledger_, epoch.generation, epoch.number));
}

Status RedisCommitter::ApplySegment(const SegmentReference& reference, RedisPipeline* pipeline, bool* lost) {
  ASSIGN_OR_RETURN(const std::string segment, ReadSegment(context_.files, reference, lost));
  SegmentRecords records(segment, reference);
  RETURN_IF_ERROR(records.Open(kRedisSegmentMagic));
  ASSIGN_OR_RETURN(RedisLayout layout, RedisLayout::Parse(records.header()));
  ASSIGN_OR_RETURN(RedisRowWriter rows, RedisRowWriter::Make(std::move(layout)));
  return pipeline->Apply(&records, &rows);
}

CommitResult RedisCommitter::Answer(Status status, bool lost) const {
  const CommitOutcome outcome = lost                                   ? CommitOutcome::kLost
                                : status.domain() == Domain::kExternal ? CommitOutcome::kUnknown
                                                                       : CommitOutcome::kRefused;
  return {outcome, std::move(status).At(target_.frame())};
}

Status RedisCommitter::RemoveLeftovers() {
  return RemoveAllSegments(context_.files, context_.segment_dir, form_);
}

}  // namespace caudal
