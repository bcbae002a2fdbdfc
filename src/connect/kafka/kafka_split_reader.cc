#include "connect/kafka/kafka_split_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace caudal {
KafkaSplitReader::KafkaSplitReader(Parts parts)
    : parts_(std::move(parts)), opened_at_(parts_.position.offset) {}

Position KafkaSplitReader::position() const {
  KafkaPosition position = parts_.position;
  position.offset = parts_.fetcher->next();
  position.leader_epoch = parts_.fetcher->leader_epoch();
  position.losses = losses();
  return position.ToJson();
}

std::vector<LostRange> KafkaSplitReader::losses() const {
  std::vector<LostRange> losses = parts_.position.losses;
  losses.insert(losses.end(), parts_.fetcher->losses().begin(), parts_.fetcher->losses().end());
  return losses;
}

int64_t KafkaSplitReader::records_passed() const {
  return parts_.fetcher->next() - opened_at_ - parts_.fetcher->gaps() - parts_.fetcher->skipped();
}

Status KafkaSplitReader::outage() const {
  RETURN_IF_ERROR(parts_.fetcher->held_up());
  return parts_.splits->outage(parts_.fetcher->partition());
}

Backlog KafkaSplitReader::backlog() const {
  Backlog backlog;
  if (!outage().ok()) {
    backlog.settled = false;
    return backlog;
  }
  backlog.rows = parts_.fetcher->records_behind(parts_.splits->end(parts_.fetcher->partition()));
  backlog.settled = parts_.fetcher->heard();
  if (backlog.rows == 0) {
    backlog.millis = 0;
  } else if (backlog.rows > 0 && last_timestamp_ >= 0) {
    backlog.millis = std::max<int64_t>(0, parts_.env->NowMillis() - last_timestamp_);
  }
  return backlog;
}

Result<Poll> KafkaSplitReader::Next() {
  Result<Poll> poll(Poll(std::in_place_type<NothingYet>));
  RETURN_IF_ERROR(parts_.fetcher->Take(Chunk::kMaxRows, &records_));
  WarnOfLosses();
  if (!records_.batch.records.empty()) {
    parts_.splits->NoteAnswer(parts_.fetcher->partition());
    ASSIGN_OR_RETURN(SourceRows rows, parts_.decoder->Decode(records_));
    last_timestamp_ = records_.batch.records.back().timestamp_millis;
    rows.warnings = std::exchange(parts_.warnings, {});
    poll->emplace<SourceRows>(std::move(rows));
  } else if (parts_.fetcher->finished()) {
    poll->emplace<Finished>();
  }
  return poll;
}

void KafkaSplitReader::WarnOfLosses() {
  for (; told_losses_ < parts_.fetcher->losses().size(); ++told_losses_) {
    parts_.warnings.push_back(parts_.fetcher->losses()[told_losses_].reason);
  }
}

}  // namespace caudal
