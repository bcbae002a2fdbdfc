#include "connect/kafka/kafka_fetcher.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cstring>

#include "data/buffer.h"
#include "data/chunk.h"

namespace caudal {
namespace {

constexpr int kRangeTimeoutMillis = 5000;
constexpr int kDamageTries = 3;
// Messages taken at once: what they lie in is still in the nearer caches when they are copied, and again when
// they are given back.
constexpr size_t kTaken = 256;
constexpr int64_t kHeldUpSeconds = 20;  // as long as two questions to the cluster take elsewhere
constexpr std::string_view kWayOn =
    "nothing is passed over in silence: start with a new checkpoint, from where the table's "
    "'scan.startup.mode' says, once what is missing has been seen to; 'caudal.on-data-loss' = "
    "'record-and-continue' passes over it and keeps the range in ops.losses";

#if RD_KAFKA_VERSION >= 0x020100ff
bool IsTruncation(rd_kafka_resp_err_t error, std::string_view text) {
  return error == RD_KAFKA_RESP_ERR__LOG_TRUNCATION ||
         text.find(rd_kafka_err2str(RD_KAFKA_RESP_ERR__LOG_TRUNCATION)) != std::string_view::npos;
}
int32_t LeaderEpoch(const rd_kafka_message_t& message) { return rd_kafka_message_leader_epoch(&message); }
#else
bool IsTruncation(rd_kafka_resp_err_t, std::string_view) { return false; }
int32_t LeaderEpoch(const rd_kafka_message_t&) { return -1; }
#endif

// What the library does not get over by itself, by fetching again: all else is a broker that has troubles.
bool EndsReading(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:  // a codec that is not built in
    case RD_KAFKA_RESP_ERR__FATAL:
      return true;
    default:
      return false;
  }
}

}  // namespace

void KafkaRecords::Clear() {
  batch.records.clear();
  batch.pins.clear();
  for (auto* flags : {&no_key, &no_value, &timestamp_type}) flags->clear();
  leader_epoch.clear();
  header_end.clear();
  headers.clear();
  bytes = 0;
}

Result<std::unique_ptr<KafkaFetcher>> KafkaFetcher::Open(KafkaClient* client, Env* env, Begin begin) {
  std::unique_ptr<KafkaFetcher> fetcher(new KafkaFetcher(client, env, std::move(begin)));
  fetcher->messages_.resize(kTaken);
  if (fetcher->finished()) return fetcher;
  ASSIGN_OR_RETURN(fetcher->queue_,
                   client->AssignPartition(fetcher->partition(), fetcher->next_, fetcher->leader_epoch_));
  return fetcher;
}

KafkaFetcher::~KafkaFetcher() {
  if (queue_ != nullptr) client_->Release(partition(), queue_);
}

int64_t KafkaFetcher::records_behind(int64_t end) const {
  if (queue_ == nullptr) return 0;
  const int64_t high = client_->KnownRange(partition()).high;
  const int64_t stop = begin_.stop >= 0 ? begin_.stop : INT64_MAX;
  const int64_t asked = std::max<int64_t>(0, std::min(end, stop) - next_);
  // Of what was no reader's to see at the end, nothing waits; what the log has grown by since then does.
  if (next_ == end_seen_) return std::max(asked, high - high_at_end_);
  return high < 0 && end < 0 ? -1 : std::max(asked, std::min(high, stop) - next_);
}

int64_t KafkaFetcher::nothing_waits_nanos() const {
  if (queue_ == nullptr) return INT64_MAX;
  const bool at_end = next_ == end_seen_ && client_->KnownRange(partition()).high <= next_;
  return at_end ? client_->heard_nanos(partition()) : 0;
}

Status KafkaFetcher::GoOn(const LostRange& lost, int64_t offset) {
  losses_.push_back(lost);
  skipped_ += offset - next_;
  next_ = offset;
  leader_epoch_ = -1;  // what is there now need not come after what was read
  client_->Release(partition(), queue_);
  queue_ = nullptr;
  if (finished()) return Status();
  ASSIGN_OR_RETURN(queue_, client_->AssignPartition(partition(), next_, leader_epoch_));
  return Status();
}

Status KafkaFetcher::MadeAgain() const {
  const Result<KafkaTopic> topic = client_->Topic(partition().topic, kRangeTimeoutMillis);
  if (!topic.ok() || topic->id.empty() || begin_.topic_id.empty() || topic->id == begin_.topic_id) {
    return Status();
  }
  std::string text = fmt::format(
      "topic '{}' was deleted and made again: it was '{}', now it is '{}'; {}[{}] had been read up to offset "
      "{}",
      partition().topic, begin_.topic_id, topic->id, partition().topic, partition().partition, next_);
  // A start anew reads it from its beginning.
  if (begin_.record_loss) return Status::External(std::move(text), Retry::kBackoff);
  return Status::Data(std::move(text)).Hint(std::string(kWayOn));
}

Status KafkaFetcher::Loss(std::string_view reason) {
  const std::string where = fmt::format("{}[{}]", partition().topic, partition().partition);
  const Result<KafkaRange> range = client_->Range(partition(), kRangeTimeoutMillis);
  if (!range.ok()) {
    return Status::External(fmt::format(
        "the broker has no offset {} of {} ({}), and does not say what it has", next_, where, reason));
  }
  RETURN_IF_ERROR(MadeAgain());
  std::string text;
  LostRange lost{next_, -1, "", env_->NowMillis()};
  int64_t on = next_;  // where what is there begins
  if (next_ < range->low) {
    text = fmt::format(
        "data is lost: records {} to {} of {} are gone before they were read: the log begins at {} "
        "and ends at {}",
        next_, range->low - 1, where, range->low, range->high);
    on = lost.to = range->low;
  } else if (next_ > range->high) {
    text = fmt::format(
        "the log of {} is not the one that was read: it ends at {}, records {} to {} that were read "
        "are no longer in it",
        where, range->high, range->high, next_ - 1);
    lost.to = next_;
    on = lost.from = range->high;
  } else {
    text = fmt::format(
        "the log of {} is not the one that was read: it was cut before offset {} and written anew; "
        "it begins at {} and ends at {} ({})",
        where, next_, range->low, range->high, reason);
  }
  if (begin_.record_loss) {
    lost.reason = std::move(text);
    return GoOn(lost, on);
  }
  return Status::Data(std::move(text)).Hint(std::string(kWayOn));
}

Status KafkaFetcher::Damage(const std::string& where, std::string_view text) {
  // Bytes may have been changed on their way: the library would go on behind the batch.
  if (next_ != damaged_at_) damage_seen_ = 0;
  damaged_at_ = next_;
  if (++damage_seen_ < kDamageTries) {
    client_->Release(partition(), queue_);
    queue_ = nullptr;
    ASSIGN_OR_RETURN(queue_, client_->AssignPartition(partition(), next_, leader_epoch_));
    return Status();
  }
  std::string reason =
      fmt::format("records of {} are damaged in the log: {}, read {} times", where, text, kDamageTries);
  if (begin_.record_loss && damage_seen_ == kDamageTries) {
    losses_.push_back({next_, -1, std::move(reason), env_->NowMillis()});
    passes_damage_ = true;
    return Status();
  }
  return Status::Data(std::move(reason)).Hint(std::string(kWayOn));
}

Status KafkaFetcher::Problem(const rd_kafka_message_t& message) {
  const std::string_view text(message.payload == nullptr ? "" : static_cast<const char*>(message.payload),
                              message.payload == nullptr ? 0 : message.len);
  const std::string where =
      fmt::format("{}[{}] at offset {}", partition().topic, partition().partition, next_);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      if (!IsTruncation(message.err, text)) {
        const Result<KafkaRange> range = client_->Range(partition(), kRangeTimeoutMillis);
        if (range.ok() && range->low <= next_ && next_ <= range->high) {
          return Status::External(fmt::format("{}: {}", where, text));  // a start anew clears it
        }
      }
      return Loss(text);
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return Status::User(fmt::format("{}: {}", where, rd_kafka_err2str(message.err)))
          .Hint("the broker's access lists must let this user read the topic");
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
      return Damage(where, text.empty() ? rd_kafka_err2str(message.err) : text);
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
      return Status::User(fmt::format("{}: {}", where, text.empty() ? rd_kafka_err2str(message.err) : text))
          .Hint("the client library was built without the codec of these records (docs/dependencies.md)");
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return Status::User(fmt::format("{}: {}", where, text.empty() ? rd_kafka_err2str(message.err) : text))
          .Hint("raise 'properties.receive.message.max.bytes' and 'properties.fetch.message.max.bytes'");
    default:
      if (IsTruncation(message.err, text)) return Loss(text);
      return Status::External(
          fmt::format("{}: {}", where, text.empty() ? rd_kafka_err2str(message.err) : text));
  }
}

void KafkaFetcher::MoveTo(int64_t offset) {
  gaps_ += offset - next_;
  next_ = offset;
}

bool KafkaFetcher::Accept(const rd_kafka_message_t& message, size_t* bytes) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    end_seen_ = message.offset;
    high_at_end_ = client_->KnownRange(partition()).high;
    heard_ = true;
    if (message.offset > next_)
      MoveTo(begin_.stop >= 0 ? std::min(begin_.stop, message.offset) : message.offset);
    return !finished();
  }
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (!EndsReading(message.err) && !IsTruncation(message.err, "")) return true;
    failure_ = Problem(message);
    return false;  // what follows in the batch is of before
  }
  if (message.offset < next_) {
    failure_ = Status::External(fmt::format("{}[{}] gave offset {} again after {}", partition().topic,
                                            partition().partition, message.offset, next_ - 1));
    return false;
  }
  if (begin_.stop >= 0 && message.offset >= begin_.stop) {
    MoveTo(begin_.stop);
    return false;
  }
  heard_ = true;
  if (passes_damage_) {
    // Known now: up to the record that the library went on with.
    passes_damage_ = false;
    losses_.back().to = message.offset;
    skipped_ += message.offset - next_;
    next_ = message.offset;
  }
  MoveTo(message.offset);
  ++next_;
  *bytes += message.len + message.key_len + 1;
  return true;
}

// The headers as the library holds them: they must be copied before the message goes.
void KafkaFetcher::NoteHeaders(const rd_kafka_message_t& message, KafkaRecords* records) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; ++i) {
      const std::string_view text(static_cast<const char*>(value), value == nullptr ? 0 : size);
      records->headers.push_back({name, text, value == nullptr});
    }
  }
  records->header_end.push_back(static_cast<uint32_t>(records->headers.size()));
}

void KafkaFetcher::CopyHeaders(std::span<KafkaHeader> headers, KafkaRecords* records) {
  size_t bytes = 0;
  for (const KafkaHeader& header : headers) bytes += header.name.size() + header.value.size();
  MutableBufferPtr buffer = Buffer::Allocate(bytes);
  char* to = buffer->mutable_data();
  for (KafkaHeader& header : headers) {
    for (std::string_view* part : {&header.name, &header.value}) {
      if (!part->empty()) std::memcpy(to, part->data(), part->size());
      *part = {to, part->size()};
      to += part->size();
    }
  }
  records->batch.pins.push_back(std::move(buffer));
}

void KafkaFetcher::Copy(size_t count, size_t bytes, KafkaRecords* records) const {
  MutableBufferPtr buffer = Buffer::Allocate(bytes);
  char* to = buffer->mutable_data();
  const auto is_record = [](const rd_kafka_message_t* each) {
    return each->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  };
  size_t next = records->batch.records.size();
  // Values first, a line break between them: decoders of text go over all of them at once.
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_message_t& message = *messages_[i];
    if (!is_record(&message)) continue;
    RawRecord& record = records->batch.records.emplace_back();
    if (message.len > 0) std::memcpy(to, message.payload, message.len);
    record.value = {to, message.len};
    to += message.len;
    *to++ = '\n';
    record.offset = message.offset;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    record.timestamp_millis = rd_kafka_message_timestamp(&message, &type);
    records->timestamp_type.push_back(static_cast<uint8_t>(type));
    records->no_value.push_back(message.payload == nullptr);
    records->no_key.push_back(message.key == nullptr);
    records->leader_epoch.push_back(LeaderEpoch(message));
  }
  const size_t first_header = records->headers.size();
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_message_t& message = *messages_[i];
    if (!is_record(&message)) continue;
    if (message.key_len > 0) std::memcpy(to, message.key, message.key_len);
    records->batch.records[next++].key = {to, message.key_len};
    to += message.key_len;
    if (begin_.with_headers) NoteHeaders(message, records);
  }
  if (records->headers.size() > first_header) {
    CopyHeaders(std::span(records->headers).subspan(first_header), records);
  }
  records->batch.pins.push_back(std::move(buffer));
  records->bytes += static_cast<int64_t>(bytes);
}

void KafkaFetcher::NoteNothing() {
  if (begin_.stop < 0 || !held_up_.ok()) return;
  const int64_t now = env_->SteadyNanos();
  if (nothing_since_nanos_ < 0) nothing_since_nanos_ = now;
  if (now - nothing_since_nanos_ < kHeldUpSeconds * 1'000'000'000) return;
  const std::string complaint = client_->last_complaint();
  held_up_ = Status::External(
      fmt::format("{}[{}] is to be read up to offset {}, and nothing has come behind {} for {} s{}",
                  partition().topic, partition().partition, begin_.stop, next_ - 1, kHeldUpSeconds,
                  complaint.empty() ? "" : "; the client said last: " + complaint),
      Retry::kBackoff);
}

bool KafkaFetcher::TakeSome(size_t ready, KafkaRecords* records) {
  size_t accepted = 0, bytes = 0;
  while (accepted < ready && Accept(*messages_[accepted], &bytes)) ++accepted;
  if (bytes > 0) Copy(accepted, bytes, records);
  for (size_t i = 0; i < ready; ++i) rd_kafka_message_destroy(messages_[i]);
  return accepted == ready;
}

Status KafkaFetcher::Take(size_t most, KafkaRecords* records) {
  records->Clear();
  if (!failure_.ok()) return failure_;
  if (queue_ == nullptr || finished()) return Status();
  const size_t losses = losses_.size();
  size_t taken = 0;
  for (bool more = true; more && taken < most;) {
    const size_t room = std::min(most - taken, messages_.size());
    const ssize_t ready = rd_kafka_consume_batch_queue(queue_, 0, messages_.data(), room);
    if (ready <= 0) break;
    taken += static_cast<size_t>(ready);
    more = TakeSome(static_cast<size_t>(ready), records) && static_cast<size_t>(ready) == room;
  }
  if (taken == 0) {
    client_->Serve();
    NoteNothing();
    return Status();
  }
  nothing_since_nanos_ = -1;
  held_up_ = Status();
  if (!records->leader_epoch.empty() && losses_.size() == losses) {
    leader_epoch_ = records->leader_epoch.back();
  }
  // Rows before a failure are given first.
  return records->batch.records.empty() ? failure_ : Status();
}

}  // namespace caudal
