#include "connect/kafka/kafka_enumerator.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace caudal {
namespace {

using Mode = KafkaOffsetsSpec::Mode;

// At the start nothing runs that could be held up.
constexpr int kFirstTimeoutMillis = 10'000;
constexpr int kTimeoutMillis = 3'000;
constexpr int kTimeoutMillisOfSilent = 5'000;  // so that who is slow and not away is heard
// A broker that has just started does not know all topics yet: one answer is not believed.
constexpr int kLookAgainMillis = 250;
constexpr int kLooksForGoneTopic = 3;  // while it is being read: discoveries in a row
constexpr int kLooksForReadTopic = 40, kLooksForNamedTopic = 4;

constexpr std::string_view kNewCheckpoint =
    "nothing is passed over in silence: start with a new checkpoint, from where 'scan.startup.mode' says, "
    "once "
    "what is missing has been seen to";

}  // namespace

int KafkaEnumerator::timeout_millis() const {
  if (!discovered_) return kFirstTimeoutMillis;
  return silent_ ? kTimeoutMillisOfSilent : kTimeoutMillis;
}

Status KafkaEnumerator::Restore(std::string_view snapshot) {
  restored_ = true;
  return splits_->FromJson(snapshot);
}

bool KafkaEnumerator::IsLeftOut(const std::string& topic) const {
  return std::find(options_->left_out.begin(), options_->left_out.end(), topic) != options_->left_out.end();
}

Result<std::vector<std::string>> KafkaEnumerator::TopicNames() {
  if (options_->topic_pattern.empty()) return options_->topics;
  ASSIGN_OR_RETURN(std::vector<std::string> names, client_->TopicNames(timeout_millis()));
  const RE2 pattern(options_->topic_pattern, RE2::Quiet);
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with("__") || IsLeftOut(name) || !RE2::FullMatch(name, pattern);
  });
  std::sort(names.begin(), names.end());
  return names;
}

Status KafkaEnumerator::CheckSame(const KafkaTopic& topic) {
  const std::string known = splits_->topic_id(topic.name);
  if (known.empty() || topic.id.empty() || known == topic.id) return Status();
  std::string ranges;
  for (int i = 0; i < topic.partitions; ++i) {
    const Result<KafkaRange> range = client_->Range({topic.name, i}, timeout_millis());
    if (range.ok()) ranges += fmt::format("; [{}] has {} to {} now", i, range->low, range->high);
  }
  std::string text = fmt::format("topic '{}' was deleted and made again: it was '{}', now it is '{}'{}",
                                 topic.name, known, topic.id, ranges);
  if (!options_->record_loss) return Status::Data(std::move(text)).Hint(std::string(kNewCheckpoint));
  // Readers that are open are of the old one: a start anew opens others.
  made_again_ = discovered_;
  return discovered_ ? Status::External(std::move(text), Retry::kBackoff) : BeginAnew(topic);
}

Status KafkaEnumerator::BeginAnew(const KafkaTopic& topic) {
  for (KafkaSplit split : splits_->OfTopic(topic.name)) {
    if (split.partition.partition >= topic.partitions) {
      return Status::Data(fmt::format("{} is gone: topic '{}' was made again with {} partitions", split.id(),
                                      topic.name, topic.partitions))
          .Hint(std::string(kNewCheckpoint));
    }
    ASSIGN_OR_RETURN(const KafkaRange range, client_->Range(split.partition, timeout_millis()));
    split.start = range.low;
    splits_->Replace(std::move(split));
  }
  return Status();
}

Result<int64_t> KafkaEnumerator::CommittedOr(const KafkaPartitionId& partition, Mode otherwise) {
  ASSIGN_OR_RETURN(const int64_t committed, client_->CommittedOffset(partition, timeout_millis()));
  if (committed >= 0) return committed;
  if (otherwise == Mode::kUnbounded) {
    return Status::User(fmt::format("group '{}' has no committed offset for {}", options_->group,
                                    KafkaSplit::SplitId(partition)))
        .Hint("set 'scan.startup.mode', or 'properties.auto.offset.reset' = 'earliest' for such partitions");
  }
  ASSIGN_OR_RETURN(const KafkaRange range, client_->Range(partition, timeout_millis()));
  return otherwise == Mode::kEarliest ? range.low : range.high;
}

// What the table names was there once or will be: nothing has been read, so that nothing can be lost.
Result<int64_t> KafkaEnumerator::ExistingOffset(const KafkaPartitionId& partition, int64_t offset) {
  ASSIGN_OR_RETURN(const KafkaRange range, client_->Range(partition, timeout_millis()));
  if (range.low <= offset && offset <= range.high) return offset;
  return Status::User(fmt::format("'scan.startup.specific-offsets' begins {} at {}, and it has {} to {}",
                                  KafkaSplit::SplitId(partition), offset, range.low, range.high))
      .Hint("name an offset that is there, or the end");
}

Result<int64_t> KafkaEnumerator::StartOf(const KafkaPartitionId& partition) {
  // What is found later came into being later: nothing of it may be passed over.
  const Mode mode = splits_->size() > 0 ? Mode::kEarliest : options_->start.mode;
  if (mode == Mode::kSpecific) {
    const auto found = options_->start.offsets.find(partition.partition);
    if (found != options_->start.offsets.end()) return ExistingOffset(partition, found->second);
    // As Flink: one that is not named goes on where the group is.
    if (!options_->group.empty()) return CommittedOr(partition, Mode::kEarliest);
  }
  if (mode == Mode::kGroup) return CommittedOr(partition, options_->without_commit);
  if (mode == Mode::kTimestamp) {
    ASSIGN_OR_RETURN(const int64_t at,
                     client_->OffsetAt(partition, options_->start.timestamp_millis, timeout_millis()));
    if (at >= 0) return at;
  }
  ASSIGN_OR_RETURN(const KafkaRange range, client_->Range(partition, timeout_millis()));
  return mode == Mode::kLatest || mode == Mode::kTimestamp ? range.high : range.low;
}

Result<int64_t> KafkaEnumerator::StopOf(const KafkaPartitionId& partition, int64_t start) {
  switch (options_->stop.mode) {
    case Mode::kUnbounded:
      return -1;
    case Mode::kGroup:
      return CommittedOr(partition, Mode::kUnbounded);
    case Mode::kSpecific: {
      // As in Flink: a partition that is not named is not read.
      const auto found = options_->stop.offsets.find(partition.partition);
      return found == options_->stop.offsets.end() ? start : found->second;
    }
    case Mode::kTimestamp: {
      ASSIGN_OR_RETURN(const int64_t at,
                       client_->OffsetAt(partition, options_->stop.timestamp_millis, timeout_millis()));
      if (at >= 0) return at;
      break;
    }
    default:
      break;
  }
  ASSIGN_OR_RETURN(const KafkaRange range, client_->Range(partition, timeout_millis()));
  return range.high;
}

Result<KafkaTopic> KafkaEnumerator::Look(const std::string& name) {
  const int patience = discovered_ ? 0 : splits_->knows(name) ? kLooksForReadTopic : kLooksForNamedTopic;
  for (int look = 0;; ++look) {
    Result<KafkaTopic> topic = client_->Topic(name, timeout_millis());
    if (!topic.ok() || topic->partitions > 0 || look >= patience) return topic;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookAgainMillis));
  }
}

// Topics that the checkpoint has positions of are those of the table.
Status KafkaEnumerator::CheckAllNamed(const std::vector<std::string>& names) {
  for (const std::string& known : splits_->topics()) {
    if (std::find(names.begin(), names.end(), known) != names.end()) continue;
    if (options_->topic_pattern.empty()) {
      return Status::User(
                 fmt::format("the checkpoint has positions of topic '{}', which 'topic' does not name",
                             known))
          .Hint("name it again, or start with a new checkpoint");
    }
    if (IsLeftOut(known)) {
      return Status::User(
                 fmt::format("the checkpoint has positions of topic '{}', which is not read any more: the "
                             "query writes it, or 'caudal.topics-left-out' names it",
                             known))
          .Hint("start with a new checkpoint");
    }
    ASSIGN_OR_RETURN(const KafkaTopic topic, Look(known));
    if (topic.partitions > 0) continue;
    std::string text = fmt::format("topic '{}', of which the checkpoint has positions, is gone", known);
    if (options_->record_loss)
      return Status::External(std::move(text), Retry::kBackoff);  // it may be made again
    return Status::Data(std::move(text)).Hint(std::string(kNewCheckpoint));
  }
  return Status();
}

// A number that is mistyped would leave the partition that was meant to be read from elsewhere. Where reading
// began long ago is of no interest any more.
Status KafkaEnumerator::CheckPartitionsNamed(const KafkaTopic& topic) const {
  const std::pair<std::string_view, const std::map<int32_t, int64_t>*> named[] = {
      {"scan.startup.specific-offsets", restored_ ? nullptr : &options_->start.offsets},
      {"scan.bounded.specific-offsets", &options_->stop.offsets}};
  for (const auto& [option, offsets] : named) {
    if (offsets == nullptr || offsets->empty() || offsets->rbegin()->first < topic.partitions) continue;
    return Status::User(fmt::format("'{}' names partition {}, and topic '{}' has the partitions 0 to {}",
                                    option, offsets->rbegin()->first, topic.name, topic.partitions - 1))
        .Hint("leave it out there, or correct the number");
  }
  return Status();
}

Result<KafkaEnumerator::Found> KafkaEnumerator::Find() {
  // The cluster of a running client does not change; that of a checkpoint may have.
  if (cluster_.empty()) {
    ASSIGN_OR_RETURN(cluster_, client_->ClusterId(timeout_millis()));
    const std::string known = splits_->cluster();
    elsewhere_ = !known.empty() && known != cluster_;
    if (elsewhere_ && !options_->record_loss) {
      return Status::Data(
                 fmt::format(
                     "the checkpoint is of Kafka cluster '{}', 'properties.bootstrap.servers' lead to "
                     "cluster '{}'",
                     known, cluster_))
          .Hint("set the servers back, or start with a new checkpoint");
    }
  }
  Found found;
  ASSIGN_OR_RETURN(std::vector<std::string> names, TopicNames());
  if (!discovered_) RETURN_IF_ERROR(CheckAllNamed(names));
  // One that is read and that the pattern does not find any more is looked for by name.
  for (std::string& known : splits_->topics()) {
    if (discovered_ && std::find(names.begin(), names.end(), known) == names.end())
      names.push_back(std::move(known));
  }
  int ordinal = static_cast<int>(splits_->size());
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(KafkaTopic topic, Look(name));
    // A broker that has just started may not know it yet.
    const bool believed = !discovered_ || (topic.partitions == 0 && ++missing_[name] >= kLooksForGoneTopic);
    if (topic.partitions > 0) missing_.erase(name);
    if (topic.partitions == 0 && !believed) continue;
    if (topic.partitions == 0 && splits_->knows(name) && options_->record_loss) {
      return Status::External(fmt::format("topic '{}' is gone", name),
                              Retry::kBackoff);  // it may be made again
    }
    if (topic.partitions == 0 && splits_->knows(name)) {
      return Status::Data(fmt::format("topic '{}', of which the checkpoint has positions, is gone", name))
          .Hint(std::string(kNewCheckpoint));
    }
    if (topic.partitions == 0) {
      return Status::User(fmt::format("there is no topic '{}' in Kafka cluster '{}'", name, cluster_))
          .Hint("create it, or correct 'topic'");
    }
    if (!discovered_) RETURN_IF_ERROR(CheckPartitionsNamed(topic));
    RETURN_IF_ERROR(elsewhere_ && !discovered_ && splits_->knows(name) ? BeginAnew(topic) : CheckSame(topic));
    for (int i = 0; i < topic.partitions; ++i) {
      KafkaSplit split{{name, i}, ordinal};
      if (splits_->Find(split.id())) continue;
      ASSIGN_OR_RETURN(split.start, StartOf(split.partition));
      ASSIGN_OR_RETURN(split.stop, StopOf(split.partition, split.start));
      ++ordinal;
      found.fresh.push_back(std::move(split));
    }
    found.topics.push_back(std::move(topic));
  }
  if (found.fresh.empty() && splits_->size() == 0 && !discovered_) {
    return Status::User(fmt::format("there are no {} in Kafka cluster '{}'", options_->Topics(), cluster_))
        .Hint("create one, or correct 'topic-pattern'");
  }
  return found;
}

Result<std::vector<Split>> KafkaEnumerator::Discover() {
  std::vector<Split> splits;
  if (discovered_ && bounded()) return splits;
  Result<Found> found = Find();
  if (!found.ok()) {
    // A broker that is away holds the source up and ends nothing.
    if (!discovered_ || found.status().domain() != Domain::kExternal || made_again_) return found.status();
    for (const KafkaPartitionId& partition : splits_->partitions()) {
      splits_->NoteNoAnswer(partition, found.status());
    }
    silent_ = true;
    return splits;
  }
  splits_->SetCluster(cluster_);
  for (const KafkaTopic& topic : found->topics) {
    if (!topic.id.empty()) splits_->SetTopicId(topic.name, topic.id);
  }
  if (discovered_ && options_->discovery_millis <= 0) {
    AskEnds();
    return splits;
  }
  if (restored_ && !discovered_ && bounded()) found->fresh.clear();  // what is bounded was bounded then
  for (const KafkaSplit& split : found->fresh) splits.push_back({split.id(), split.ordinal});
  splits_->Add(std::move(found->fresh));
  discovered_ = true;
  AskEnds();
  return splits;
}

void KafkaEnumerator::AskEnds() {
  client_->Serve();
  if (bounded()) return;
  std::vector<KafkaPartitionId> partitions = splits_->partitions();
  // Who did not answer last time holds up none of the others.
  std::stable_partition(partitions.begin(), partitions.end(),
                        [&](const KafkaPartitionId& partition) { return splits_->answers(partition); });
  silent_ = false;
  for (const KafkaPartitionId& partition : partitions) {
    const bool answered = splits_->answers(partition);
    const Result<KafkaRange> range =
        client_->Range(partition, answered ? kTimeoutMillis : kTimeoutMillisOfSilent);
    if (!range.ok()) {
      if (range.status().domain() == Domain::kExternal) splits_->NoteNoAnswer(partition, range.status());
      return;  // the next call asks again
    }
    splits_->SetEnd(partition, range->high);
    splits_->NoteAnswer(partition);
  }
}

}  // namespace caudal
