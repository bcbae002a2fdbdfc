#include "connect/redis/redis_pipeline.h"

#include <fmt/format.h>

#include "base/fault_point.h"
#include "connect/redis/redis_error.h"

namespace caudal {
namespace {

// The server does nothing else while it runs a batch: well below a millisecond each.
constexpr int64_t kBatchRows = 200;
constexpr size_t kBatchBytes = 256 << 10;
constexpr size_t kOnTheirWay = 8;

constexpr size_t kShownKey = 200;  // bytes of a key in a message

}  // namespace

Status RedisPipeline::Apply(SegmentRecords* records, RedisRowWriter* rows) {
  SegmentRecord record;
  while (!superseded_) {
    ASSIGN_OR_RETURN(const bool more, records->Next(&record));
    if (!more) return Status();
    if (!rows->Append(record, &batch_)) return records->Damaged();
    if (batch_.keys.count >= kBatchRows || batch_.actions.arguments.size() >= kBatchBytes) {
      RETURN_IF_ERROR(SendBatch(false));
    }
  }
  return Status();
}

Status RedisPipeline::Finish() {
  FAULT_POINT(database_commit);
  if (!superseded_) RETURN_IF_ERROR(SendBatch(true));
  while (!on_their_way_.empty()) RETURN_IF_ERROR(TakeAnswer());
  return Status();
}

Status RedisPipeline::SendBatch(bool last) {
  RedisCommand command;
  command.Add("EVALSHA").Add(std::string_view(*script_)).Add(batch_.keys.count + 1);
  command.Add(std::string_view(attempt_.ledger)).Add(batch_.keys);
  command.Add(attempt_.epoch.generation).Add(attempt_.epoch.number);
  command.Add(std::string_view(attempt_.name)).Add(++batches_).Add(int64_t{last}).Add(batch_.ttl_millis);
  command.Add(attempt_.least.generation).Add(attempt_.least.number).Add(batch_.actions);
  on_their_way_.push_back(std::move(batch_.keys));
  batch_ = RedisBatch();
  RETURN_IF_ERROR(connection_->Send(command));
  if (on_their_way_.size() < kOnTheirWay) return Status();
  return TakeAnswer();
}

Status RedisPipeline::TakeAnswer() {
  ASSIGN_OR_RETURN(const RedisAnswer answer, connection_->Receive());
  const RedisCommand keys = std::move(on_their_way_.front());
  on_their_way_.pop_front();
  if (answer.kind == RedisAnswer::Kind::kError) return RedisError(answer.text);
  if (answer.kind != RedisAnswer::Kind::kList || answer.list.size() != 3) {
    return Status::User("what answers is no Redis server: a script's result is none")
        .Hint("look at 'hostname' and 'port'");
  }
  const std::string& word = answer.list[0].text;
  if (word == "older" || word == "done") {
    superseded_ = true;
    return Status();
  }
  if (word != "ok") return Failed(answer, keys);
  if (answer.list[1].integer == keys.count) return Status();
  return Status::Internal(
      fmt::format("the server applied {} of {} rows", answer.list[1].integer, keys.count));
}

Status RedisPipeline::Failed(const RedisAnswer& answer, const RedisCommand& keys) const {
  const std::string& word = answer.list[0].text;
  const int64_t row = answer.list[1].integer;
  const std::string& text = answer.list[2].text;
  if (word == "fail" && row >= 0 && row < keys.count) {
    const std::string_view key = keys.at(row);
    return RedisError(text).At(fmt::format("key '{}'", key.substr(0, kShownKey)));
  }
  return Status::External("the ledger was changed by somebody else meanwhile", Retry::kBackoff);
}

Status RedisPipeline::LostEpochs(const std::string& ledger, Epoch at, Epoch was) {
  return Status::Data(
             fmt::format("the server has lost what it had acknowledged: its ledger is at epoch {}-{} and was "
                         "at {}-{}",
                         at.generation, at.number, was.generation, was.number))
      .Hint(fmt::format(
          "rows of the epochs between are missing there: set 'appendonly yes' and 'appendfsync always' on "
          "the "
          "server, or 'caudal.wait-replicas' where a replica may take its place, and build the table anew "
          "under "
          "another --state folder; or, to go on without them, run there: HSET '{}' generation {} number {} "
          "complete 1",
          ledger, was.generation, was.number));
}

}  // namespace caudal
