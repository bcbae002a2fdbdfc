#include "connect/kafka/kafka_split_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace caudal {
namespace {

constexpr std::string_view kNoValue = "the record has no value: it deletes its key, which this table cannot";

// Rows that both selections have; null = all.
SelectionPtr Both(const SelectionPtr& a, const SelectionPtr& b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  auto both = std::make_unique<Selection>();
  std::set_intersection(a->rows.begin(), a->rows.end(), b->rows.begin(), b->rows.end(),
                        std::back_inserter(both->rows));
  return SelectionPtr(std::move(both));
}

// All rows but those that `flags` marks; null = all.
SelectionPtr Unmarked(const std::vector<uint8_t>& flags) {
  if (std::find(flags.begin(), flags.end(), 1) == flags.end()) return nullptr;
  auto rows = std::make_unique<Selection>();
  for (size_t row = 0; row < flags.size(); ++row) {
    if (flags[row] == 0) rows->rows.push_back(static_cast<uint16_t>(row));
  }
  return SelectionPtr(std::move(rows));
}

// The column with NULL where `flags` marks, whatever the decoder made of nothing.
ColumnPtr NullWhere(const ColumnPtr& column, const std::vector<uint8_t>& flags) {
  if (column->encoding() != Encoding::kFlat || std::find(flags.begin(), flags.end(), 1) == flags.end())
    return column;
  const size_t words = (flags.size() + 63) / 64;
  MutableBufferPtr validity = Buffer::Allocate(words * sizeof(uint64_t));
  for (size_t word = 0; word < words; ++word) {
    validity->mutable_as<uint64_t>()[word] =
        column->validity() == nullptr ? ~uint64_t{0} : column->validity()[word];
  }
  for (size_t row = 0; row < flags.size(); ++row) {
    if (flags[row] != 0) validity->mutable_as<uint64_t>()[row / 64] &= ~(uint64_t{1} << (row % 64));
  }
  return Column::Flat(column->type(), column->size(), column->values_buffer(), std::move(validity),
                      column->strings(), column->children());
}

}  // namespace

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

Backlog KafkaSplitReader::backlog() const {
  Backlog backlog;
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
    ASSIGN_OR_RETURN(SourceRows rows, Decode());
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

Status KafkaSplitReader::DecodeKeys(DecodedRows* keys) {
  if (parts_.key == nullptr) return Status();
  keys_.records.assign(records_.batch.records.begin(), records_.batch.records.end());
  keys_.pins = records_.batch.pins;
  for (RawRecord& record : keys_.records) record.value = record.key;
  RETURN_IF_ERROR(parts_.key->Decode(keys_, keys));
  // A record without a key has NULL in the columns that are read from it.
  const auto& none = records_.no_key;
  if (std::find(none.begin(), none.end(), 1) == none.end()) return Status();
  for (ColumnPtr& column : keys->columns) column = NullWhere(column, none);
  std::erase_if(keys->errors,
                [&](const DecodeError& error) { return none[static_cast<size_t>(error.record)] != 0; });
  if (keys->selection == nullptr) return Status();
  std::vector<uint8_t> bad(none.size(), 0);
  for (const DecodeError& error : keys->errors) bad[static_cast<size_t>(error.record)] = 1;
  keys->selection = Unmarked(bad);
  return Status();
}

void KafkaSplitReader::Reject(const std::vector<DecodeError>& value, const std::vector<DecodeError>& key,
                              SourceRows* rows) const {
  auto add = [&](int32_t record, std::string_view error_class, std::string message, std::string hint = "") {
    const RawRecord& raw = records_.batch.records[static_cast<size_t>(record)];
    RejectedRecord& rejected = rows->rejected.emplace_back();
    rejected.offset = raw.offset;
    rejected.file = parts_.split.id;
    rejected.raw = std::string(raw.value);
    rejected.no_value = records_.no_value[static_cast<size_t>(record)] != 0;
    AddEnvelope(record, &rejected);
    rejected.error_class = error_class;
    rejected.message = std::move(message);
    rejected.hint = std::move(hint);
  };
  const auto& none = records_.no_value;
  const bool tombstones = !parts_.null_values && std::find(none.begin(), none.end(), 1) != none.end();
  auto next_key = key.begin();
  auto next_value = value.begin();
  if (value.empty() && key.empty() && !tombstones) return;
  for (int32_t row = 0; row < static_cast<int32_t>(none.size()); ++row) {
    const DecodeError* in_value =
        next_value != value.end() && next_value->record == row ? &*next_value++ : nullptr;
    const DecodeError* in_key = next_key != key.end() && next_key->record == row ? &*next_key++ : nullptr;
    if (tombstones && none[static_cast<size_t>(row)] != 0) {
      add(row, "tombstone", std::string(kNoValue));
    } else if (in_value != nullptr) {
      add(row, "malformed", in_value->message, in_value->hint);
    } else if (in_key != nullptr) {
      add(row, "malformed", "in the key: " + in_key->message, in_key->hint);
    }
  }
}

void KafkaSplitReader::AddEnvelope(int32_t record, RejectedRecord* rejected) const {
  if (!parts_.columns->with_envelope()) return;
  const auto at = static_cast<size_t>(record);
  rejected->arrival_millis = records_.batch.records[at].timestamp_millis;
  if (records_.no_key[at] == 0) rejected->key = std::string(records_.batch.records[at].key);
  for (uint32_t i = at == 0 ? 0 : records_.header_end[at - 1]; i < records_.header_end[at]; ++i) {
    const KafkaHeader& header = records_.headers[i];
    std::optional<std::string> value;
    if (!header.null) value = std::string(header.value);
    rejected->headers.emplace_back(header.name, std::move(value));
  }
}

Result<SourceRows> KafkaSplitReader::Decode() {
  DecodedRows value, key;
  if (parts_.value != nullptr) RETURN_IF_ERROR(parts_.value->Decode(records_.batch, &value));
  RETURN_IF_ERROR(DecodeKeys(&key));
  SelectionPtr selection = Both(value.selection, key.selection);
  if (parts_.null_values) {
    for (ColumnPtr& column : value.columns) column = NullWhere(column, records_.no_value);
  } else {
    selection = Both(selection, Unmarked(records_.no_value));
  }
  SourceRows out;
  Reject(value.errors, key.errors, &out);
  const int32_t count = static_cast<int32_t>(records_.batch.records.size());
  out.chunk = Chunk(parts_.columns->Assemble(value.columns, key.columns,
                                             {&records_, &parts_.fetcher->partition(), parts_.split.ordinal}),
                    count, std::move(selection));
  MutableBufferPtr arrival = Buffer::Allocate(static_cast<size_t>(count) * sizeof(int64_t));
  std::vector<uint8_t> untold(records_.batch.records.size());  // records of before there were timestamps
  out.offsets.reserve(records_.batch.records.size());
  for (int32_t i = 0; i < count; ++i) {
    const RawRecord& record = records_.batch.records[static_cast<size_t>(i)];
    arrival->mutable_as<int64_t>()[i] = record.timestamp_millis;
    untold[static_cast<size_t>(i)] = record.timestamp_millis < 0;
    out.offsets.push_back(record.offset);
  }
  last_timestamp_ = records_.batch.records.back().timestamp_millis;
  out.arrival = NullWhere(Column::Flat(Type(TypeId::kBigInt), count, std::move(arrival), nullptr), untold);
  if (parts_.columns->with_envelope()) {
    out.key = KafkaColumns::Keys(records_);
    out.headers = KafkaColumns::Headers(records_);
  }
  out.bytes = records_.bytes;
  out.file = parts_.split.id;  // "t[0]": what offsets count in
  out.ignored_values = value.ignored_values + key.ignored_values;
  return out;
}

}  // namespace caudal
