#include "connect/kafka/kafka_record_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

// A producer may send any number as a record's time. What TIMESTAMP cannot hold is no row.
void RejectTimes(const KafkaRecords& records, DecodedRows* rows) {
  constexpr int64_t kMost = INT64_MAX / 1000;
  const auto& raw = records.batch.records;
  std::vector<uint8_t> bad(raw.size(), 0);
  const auto add = [&](size_t row) {
    rows->errors.push_back(
        {static_cast<int32_t>(row),
         fmt::format("the record's time, {} ms since 1970, is beyond what a TIMESTAMP holds",
                     raw[row].timestamp_millis)});
  };
  for (size_t row = 0; row < raw.size(); ++row) bad[row] = raw[row].timestamp_millis > kMost;
  if (std::find(bad.begin(), bad.end(), 1) == bad.end()) return;
  std::vector<uint8_t> told(raw.size(), 0);
  for (const DecodeError& error : rows->errors) told[static_cast<size_t>(error.record)] = 1;
  for (size_t row = 0; row < raw.size(); ++row) {
    if (bad[row] != 0 && told[row] == 0) add(row);
  }
  std::sort(rows->errors.begin(), rows->errors.end(),
            [](const DecodeError& a, const DecodeError& b) { return a.record < b.record; });
  rows->selection = Both(rows->selection, Unmarked(bad));
}

}  // namespace

Status KafkaRecordDecoder::DecodeKeys(const KafkaRecords& records, DecodedRows* keys) {
  if (parts_.key == nullptr) return Status();
  keys_.records.assign(records.batch.records.begin(), records.batch.records.end());
  keys_.pins = records.batch.pins;
  for (RawRecord& record : keys_.records) record.value = record.key;
  RETURN_IF_ERROR(parts_.key->Decode(keys_, keys));
  // A record without a key has NULL in the columns that are read from it.
  const auto& none = records.no_key;
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

void KafkaRecordDecoder::Reject(const KafkaRecords& records, const std::vector<DecodeError>& value,
                                const std::vector<DecodeError>& key, SourceRows* rows) const {
  auto add = [&](int32_t record, std::string_view error_class, std::string message, std::string hint = "") {
    const RawRecord& raw = records.batch.records[static_cast<size_t>(record)];
    RejectedRecord& rejected = rows->rejected.emplace_back();
    rejected.offset = raw.offset;
    rejected.file = parts_.split.id;
    rejected.raw = std::string(raw.value);
    rejected.no_value = records.no_value[static_cast<size_t>(record)] != 0;
    AddEnvelope(records, record, &rejected);
    rejected.error_class = error_class;
    rejected.message = std::move(message);
    rejected.hint = std::move(hint);
  };
  const auto& none = records.no_value;
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

void KafkaRecordDecoder::AddEnvelope(const KafkaRecords& records, int32_t record,
                                     RejectedRecord* rejected) const {
  if (!parts_.columns->with_envelope()) return;
  const auto at = static_cast<size_t>(record);
  rejected->arrival_millis = records.batch.records[at].timestamp_millis;
  if (records.no_key[at] == 0) rejected->key = std::string(records.batch.records[at].key);
  for (uint32_t i = at == 0 ? 0 : records.header_end[at - 1]; i < records.header_end[at]; ++i) {
    const KafkaHeader& header = records.headers[i];
    std::optional<std::string> value;
    if (!header.null) value = std::string(header.value);
    rejected->headers.emplace_back(header.name, std::move(value));
  }
}

Result<SourceRows> KafkaRecordDecoder::Decode(const KafkaRecords& records) {
  DecodedRows value, key;
  if (parts_.value != nullptr) RETURN_IF_ERROR(parts_.value->Decode(records.batch, &value));
  if (parts_.columns->with_timestamps()) RejectTimes(records, &value);
  RETURN_IF_ERROR(DecodeKeys(records, &key));
  SelectionPtr selection = Both(value.selection, key.selection);
  if (parts_.null_values) {
    for (ColumnPtr& column : value.columns) column = NullWhere(column, records.no_value);
  } else {
    selection = Both(selection, Unmarked(records.no_value));
  }
  SourceRows out;
  Reject(records, value.errors, key.errors, &out);
  const int32_t count = static_cast<int32_t>(records.batch.records.size());
  out.chunk = Chunk(parts_.columns->Assemble(value.columns, key.columns,
                                             {&records, &parts_.partition, parts_.split.ordinal}),
                    count, std::move(selection));
  MutableBufferPtr arrival = Buffer::Allocate(static_cast<size_t>(count) * sizeof(int64_t));
  std::vector<uint8_t> untold(records.batch.records.size());  // records of before there were timestamps
  out.offsets.reserve(records.batch.records.size());
  for (int32_t i = 0; i < count; ++i) {
    const RawRecord& record = records.batch.records[static_cast<size_t>(i)];
    arrival->mutable_as<int64_t>()[i] = record.timestamp_millis;
    untold[static_cast<size_t>(i)] = record.timestamp_millis < 0;
    out.offsets.push_back(record.offset);
  }
  out.arrival = NullWhere(Column::Flat(Type(TypeId::kBigInt), count, std::move(arrival), nullptr), untold);
  if (parts_.columns->with_envelope()) {
    out.key = KafkaColumns::Keys(records);
    out.headers = KafkaColumns::Headers(records);
  }
  out.bytes = records.bytes;
  out.file = parts_.split.id;  // "t[0]": what offsets count in
  out.ignored_values = value.ignored_values + key.ignored_values;
  return out;
}

}  // namespace caudal
