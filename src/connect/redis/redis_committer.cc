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
      ledger_(RedisLedger::Of(context_)),
      reached_(target_.mode == RedisMode::kCluster ? kRedisSlots : 0),
      acknowledged_(acknowledged) {}

Status RedisCommitter::Connect() {
  if (nodes_ != nullptr) return Status();
  ASSIGN_OR_RETURN(nodes_, RedisNodes::Open(&target_, kRedisCommitScript));
  target_.met = true;
  return Status();
}

Result<RedisCommitter::Ledger> RedisCommitter::ReadLedger() {
  RETURN_IF_ERROR(Connect());
  const std::string key = ledger_.head();
  RedisCommand command;
  command.Add("HMGET")
      .Add(std::string_view(key))
      .Add("generation")
      .Add("number")
      .Add("complete")
      .Add("marks");
  ASSIGN_OR_RETURN(const RedisAnswer answer, nodes_->Call(key, command));
  Ledger ledger;
  if (answer.list.size() != 4 || answer.list[0].kind == RedisAnswer::Kind::kNull) return ledger;
  const Status damaged = Status::Data(fmt::format("the ledger '{}' in the server is damaged", key))
                             .Hint("build the table anew under another --state folder");
  if (!ParseWholeInteger(answer.list[0].text, &ledger.epoch.generation) ||
      !ParseWholeInteger(answer.list[1].text, &ledger.epoch.number)) {
    return damaged;
  }
  ledger.complete = answer.list[2].text == "1";
  for (std::string_view rest = answer.list[3].text; !rest.empty();) {
    int64_t slot = 0;
    const size_t end = std::min(rest.find(','), rest.size());
    if (!ParseWholeInteger(rest.substr(0, end), &slot) || slot < 0 || slot >= kRedisSlots) return damaged;
    ledger.marks.push_back(static_cast<int>(slot));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ledger;
}

Status RedisCommitter::CheckMarks(const Ledger& ledger) {
  if (!nodes_->is_cluster()) return Status();
  for (const int slot : ledger.marks) {
    const std::string key = ledger_.mark_in(slot);
    RedisCommand command;
    command.Add("HMGET").Add(std::string_view(key)).Add("generation").Add("number");
    ASSIGN_OR_RETURN(const RedisAnswer answer, nodes_->Call(key, command));
    Epoch at;  // a mark that is no number is gone, too
    if (answer.list.size() == 2) {
      static_cast<void>(ParseWholeInteger(answer.list[0].text, &at.generation) &&
                        ParseWholeInteger(answer.list[1].text, &at.number));
    }
    if (at < ledger.epoch) return RedisPipeline::LostEpochs(key, at, ledger.epoch);
  }
  return Status();
}

Result<Epoch> RedisCommitter::LastCommitted() {
  if (context_.ephemeral) return Epoch();
  Result<Ledger> ledger = ReadLedger();
  if (!ledger.ok()) {
    nodes_.reset();
    return std::move(ledger).status().At(target_.frame());
  }
  acknowledged_->Raise(ledger->epoch);
  return ledger->epoch;
}

CommitResult RedisCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = Apply(epoch, committables, &lost);
  if (!status.ok()) {
    nodes_.reset();  // the next call starts from a fresh connection
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
    if (ledger.epoch < attempt.least) {
      return RedisPipeline::LostEpochs(ledger_.head(), ledger.epoch, attempt.least);
    }
    RETURN_IF_ERROR(CheckMarks(ledger));
    if (ledger.epoch > epoch) return Status();
    if (ledger.epoch == epoch && ledger.complete) return ConfirmAgain(ledger);
  }
  RedisPipeline pipeline(nodes_.get(), &reached_, std::move(attempt));
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    RETURN_IF_ERROR(reference.CheckTarget(form_, "'hostname', 'port' and 'database'"));
    Status status = ApplySegment(reference, &pipeline, lost);
    if (*lost && !context_.ephemeral) return Gone(std::move(status), ledger, epoch);
    RETURN_IF_ERROR(status);
  }
  RETURN_IF_ERROR(pipeline.Finish());
  return target_.wait_replicas == 0 ? Status() : nodes_->WaitForReplicas(target_.wait_replicas);
}

// WAIT is about the writes of its own connection, so there must be one, to each server.
Status RedisCommitter::ConfirmAgain(const Ledger& ledger) {
  if (target_.wait_replicas == 0) return Status();
  std::vector<std::string> keys = {ledger_.head()};
  for (const int slot : ledger.marks) keys.push_back(ledger_.mark_in(slot));
  const std::string chance = fmt::format("{:016x}", context_.env->Random());
  for (const std::string& key : keys) {
    RedisCommand touch;
    touch.Add("HSET").Add(std::string_view(key)).Add("confirmed").Add(std::string_view(chance));
    RETURN_IF_ERROR(nodes_->Call(key, touch).status());
  }
  return nodes_->WaitForReplicas(target_.wait_replicas);
}

Status RedisCommitter::Gone(Status why, const Ledger& ledger, Epoch epoch) const {
  return std::move(why).Hint(fmt::format(
      "the server's ledger is at epoch {}-{}: if it was further once, the server has lost what "
      "it had acknowledged "
      "('appendfsync always' keeps it); to go on without the rows, run there: HSET '{}' "
      "generation {} number {} "
      "complete 1",
      ledger.epoch.generation, ledger.epoch.number, ledger_.head(), epoch.generation, epoch.number));
}

Status RedisCommitter::ApplySegment(const SegmentReference& reference, RedisPipeline* pipeline, bool* lost) {
  ASSIGN_OR_RETURN(SegmentRecords records, SegmentRecords::OfFile(context_.files, reference, lost));
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
