#include "connect/redis/redis_pipeline.h"

#include <fmt/format.h>

#include <set>

#include "base/fault_point.h"
#include "connect/redis/redis_error.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

// The server does nothing else while it runs a batch: well below a millisecond each, but where it waits for
// its disk after each.
constexpr int64_t kBatchRows = 200;
constexpr int64_t kDurableBatchRows = 1000;
constexpr size_t kBatchBytes = 256 << 10;
constexpr size_t kOnTheirWay = 8;
// Of clusters, where most batches hold a row or two.
constexpr size_t kOnTheirWayToANode = 64;
constexpr size_t kWaitingBytes = 8 << 20;

constexpr size_t kShownKey = 200;  // bytes of a key in a message

Status NoRedis() {
  return Status::User("what answers is no Redis server: a script's result is none")
      .Hint("look at 'hostname' and 'port'");
}

}  // namespace

Status RedisPipeline::Apply(SegmentRecords* records, RedisRowWriter* rows) {
  const int64_t batch_rows = nodes_->answers_when_durable() ? kDurableBatchRows : kBatchRows;
  SegmentRecord record;
  while (!superseded_) {
    ASSIGN_OR_RETURN(const bool more, records->Next(&record));
    if (!more) return Status();
    if (!rows->Read(record)) return records->Damaged();
    const int number = nodes_->SlotOf(rows->key());
    Slot& slot = slots_[number];
    if (slot.done) continue;
    const size_t before = slot.batch.actions.arguments.size();
    rows->AppendTo(&slot.batch);
    waiting_bytes_ += slot.batch.actions.arguments.size() - before;
    if (slot.batch.keys.count >= batch_rows || slot.batch.actions.arguments.size() >= kBatchBytes) {
      RETURN_IF_ERROR(SendBatch(number, false));
    } else if (waiting_bytes_ >= kWaitingBytes) {
      RETURN_IF_ERROR(SendAll(false));
    }
  }
  return Status();
}

Status RedisPipeline::Finish() {
  FAULT_POINT(database_commit);
  if (!nodes_->is_cluster()) slots_.try_emplace(0);  // there, the last batch completes the epoch
  if (!superseded_) RETURN_IF_ERROR(SendAll(true));
  RETURN_IF_ERROR(Drain());
  if (superseded_ || !nodes_->is_cluster() || attempt_.epoch.generation == 0) return Status();
  return Complete();
}

Status RedisPipeline::SendAll(bool last) {
  for (auto& [number, slot] : slots_) {
    if (!slot.done && (last || slot.batch.keys.count > 0)) RETURN_IF_ERROR(SendBatch(number, last));
  }
  return Status();
}

RedisCommand RedisPipeline::CallOf(const std::string& ledger, const RedisBatch& batch, int64_t number,
                                   bool last, Epoch least) const {
  RedisCommand command;
  command.Add("EVALSHA").Add(std::string_view(nodes_->script())).Add(batch.keys.count + 1);
  command.Add(std::string_view(ledger)).Add(batch.keys);
  command.Add(attempt_.epoch.generation).Add(attempt_.epoch.number);
  command.Add(std::string_view(attempt_.name)).Add(number).Add(int64_t{last}).Add(batch.ttl_millis);
  command.Add(least.generation).Add(least.number).Add(batch.actions);
  return command;
}

Status RedisPipeline::SendBatch(int number, bool last) {
  Slot& slot = slots_[number];
  const bool cluster = nodes_->is_cluster();
  Sent sent;
  sent.slot = number;
  sent.last = last;
  sent.ledger = cluster ? attempt_.ledger.of_slot(number) : attempt_.ledger.head();
  const Epoch least = cluster ? (*reached_)[static_cast<size_t>(number)] : attempt_.least;
  RedisCommand command = CallOf(sent.ledger, slot.batch, ++slot.batches, last, least);
  waiting_bytes_ -= slot.batch.actions.arguments.size();
  sent.keys = std::move(slot.batch.keys);
  slot.batch = RedisBatch();
  ASSIGN_OR_RETURN(RedisConnection* const node, nodes_->NodeOf(number));
  RETURN_IF_ERROR(node->Send(command));
  if (cluster) sent.command = std::move(command);
  Lane& lane = lanes_[node];
  lane.push_back(std::move(sent));
  if (lane.size() < (cluster ? kOnTheirWayToANode : kOnTheirWay)) return Status();
  return TakeAnswer(node);
}

Status RedisPipeline::Drain() {
  for (auto& [node, lane] : lanes_) {
    while (!lane.empty()) RETURN_IF_ERROR(TakeAnswer(node));
  }
  return Status();
}

Status RedisPipeline::TakeAnswer(RedisConnection* node) {
  ASSIGN_OR_RETURN(const RedisAnswer answer, node->Receive());
  Lane& lane = lanes_[node];
  Sent sent = std::move(lane.front());
  lane.pop_front();
  if (nodes_->IsElsewhere(answer)) return Settle(std::move(sent));
  return Take(answer, sent);
}

// First all that is on its way anywhere: the answers of a server come in their order, and the batches of a
// slot stay in theirs.
Status RedisPipeline::Settle(Sent moved) {
  std::set<int> slots = {moved.slot};
  Lane again;
  again.push_back(std::move(moved));
  for (auto& [node, lane] : lanes_) {
    for (; !lane.empty(); lane.pop_front()) {
      ASSIGN_OR_RETURN(const RedisAnswer answer, node->Receive());
      if (nodes_->IsElsewhere(answer)) slots.insert(lane.front().slot);
      if (slots.contains(lane.front().slot)) {  // behind one that was not applied it was not either
        again.push_back(std::move(lane.front()));
      } else {
        RETURN_IF_ERROR(Take(answer, lane.front()));
      }
    }
  }
  for (const Sent& sent : again) {
    ASSIGN_OR_RETURN(const RedisAnswer answer, nodes_->Ask(sent.slot, sent.command));
    RETURN_IF_ERROR(Take(answer, sent));
  }
  return Status();
}

Status RedisPipeline::Take(const RedisAnswer& answer, const Sent& sent) {
  if (answer.kind == RedisAnswer::Kind::kError) return RedisError(answer.text);
  if (answer.kind != RedisAnswer::Kind::kList || answer.list.size() != 3) return NoRedis();
  const std::string& word = answer.list[0].text;
  const bool done = word == "done";
  if (word == "older" || (done && !nodes_->is_cluster())) {
    superseded_ = true;
    return Status();
  }
  if (word != "ok" && !done) return Failed(answer, sent);
  if (!done && answer.list[1].integer != sent.keys.count) {
    return Status::Internal(
        fmt::format("the server applied {} of {} rows", answer.list[1].integer, sent.keys.count));
  }
  slots_[sent.slot].done |= done;
  if (nodes_->is_cluster() && (done || sent.last) && attempt_.epoch.generation > 0) {
    (*reached_)[static_cast<size_t>(sent.slot)] = attempt_.epoch;
  }
  return Status();
}

// Each slot that has rows has them all. The marks come behind them, the head behind the marks.
Status RedisPipeline::Complete() {
  const std::vector<int> slots = nodes_->OneSlotOfEach();
  for (const int slot : slots) {
    ASSIGN_OR_RETURN(const bool ours, Advance(attempt_.ledger.mark_in(slot), ""));
    if (!ours) return Status();
  }
  return Advance(attempt_.ledger.head(), fmt::format("{}", fmt::join(slots, ","))).status();
}

// False when it is past the epoch already.
Result<bool> RedisPipeline::Advance(const std::string& ledger, std::string_view marks) {
  RedisCommand command = CallOf(ledger, RedisBatch(), 1, true, Epoch());
  if (!marks.empty()) command.Add(marks);
  ASSIGN_OR_RETURN(const RedisAnswer answer, nodes_->Call(ledger, command));
  if (answer.kind != RedisAnswer::Kind::kList || answer.list.size() != 3) return NoRedis();
  return answer.list[0].text != "older";
}

Status RedisPipeline::Failed(const RedisAnswer& answer, const Sent& sent) const {
  const std::string& word = answer.list[0].text;
  const int64_t number = answer.list[1].integer;
  const std::string& text = answer.list[2].text;
  if (word == "fail" && number >= 0 && number < sent.keys.count) {
    const std::string_view key = sent.keys.at(number);
    return RedisError(text).At(fmt::format("key '{}'", key.substr(0, kShownKey)));
  }
  Epoch at{number, 0};
  if (word == "lost" && ParseWholeInteger(text, &at.number)) {
    return LostEpochs(sent.ledger, at,
                      nodes_->is_cluster() ? (*reached_)[static_cast<size_t>(sent.slot)] : attempt_.least);
  }
  return Status::External("the ledger was changed by somebody else meanwhile", Retry::kBackoff);
}

Status RedisPipeline::LostEpochs(const std::string& key, Epoch at, Epoch was) {
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
          key, was.generation, was.number));
}

}  // namespace caudal
