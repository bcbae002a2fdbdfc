// Records of Kafka as the client hands them: each ends as a row or as a rejected record, with its offset;
// keys, values and headers are what the record has, NULL or not. The same records are dead letters that
// `caudal dlq` reads, and their headers are sent again as they were. Bytes that are no headers end.
//
// The first byte chooses the table; the rest is records (Take) and, as it stands, headers as a segment has
// them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "connect/kafka/kafka_record_decoder.h"
#include "connect/kafka/sink/kafka_envelope.h"
#include "connect/kafka/testing/named_column.h"
#include "data/value.h"
#include "format/format.h"
#include "server/cli/dead_letters/letter_of_record.h"

namespace caudal {
namespace {

constexpr size_t kMostRecords = 64;

// Takes numbers and texts off the input; zeros and nothing when it has ended.
class Take {
 public:
  explicit Take(std::string_view input) : rest_(input) {}
  bool empty() const { return rest_.empty(); }
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const uint8_t byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view Text() {
    const std::string_view text = rest_.substr(0, Byte());
    rest_.remove_prefix(std::min(text.size(), rest_.size()));
    return text;
  }

 private:
  std::string_view rest_;
};

// One of eight tables: the key raw, JSON or none, the value raw or JSON.
struct Reading {
  KafkaColumns columns;
  KafkaTableOptions options;

  static std::unique_ptr<Reading> Of(uint8_t bits) {
    Table table;
    table.name = "t";
    const bool raw_value = (bits & 1) != 0, raw_key = (bits & 2) != 0, with_key = (bits & 4) != 0;
    const Type headers = HeadersType().WithNullable(false);
    table.columns = {Named("v", raw_value ? Type::Bytes() : Type(TypeId::kBigInt)),
                     Named("o", Type(TypeId::kBigInt, false), "offset"), Named("h", headers, "headers"),
                     Named("ts", Type::TimestampLtz(3).WithNullable(false), "timestamp")};
    table.options = {{"connector", "kafka"},
                     {"topic", "t"},
                     {"value.format", raw_value ? "raw" : "json"},
                     {"scan.startup.mode", "earliest-offset"},
                     {"properties.bootstrap.servers", "127.0.0.1:1"},
                     {"value.fields-include", "EXCEPT_KEY"}};
    if (with_key) {
      table.columns.push_back(Named("k", raw_key ? Type::String() : Type(TypeId::kInt)));
      table.options["key.fields"] = "k";
      table.options["key.format"] = raw_key ? "raw" : "json";
    }
    ReadRequest request;
    request.envelope = true;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      request.schema.fields.push_back({table.columns[i].name, table.columns[i].type});
      request.columns.push_back(static_cast<int>(i));
    }
    auto options = KafkaTableOptions::From(table);
    if (!options.ok()) std::abort();
    auto columns = KafkaColumns::Make(table, request, *options);
    if (!columns.ok()) std::abort();
    return std::unique_ptr<Reading>(new Reading{std::move(*columns), std::move(*options)});
  }

  KafkaRecordDecoder Decoder() const {
    KafkaRecordDecoder::Parts parts{{"t[0]", 0}, {"t", 0}, &columns};
    const auto make = [](const std::string& format, const Schema& schema, const Options& from) {
      if (format.empty() || schema.size() == 0) return std::unique_ptr<caudal::Decoder>();
      auto made = MakeDecoder(format, schema, from);
      if (!made.ok()) std::abort();
      return std::move(made).value();
    };
    parts.value = make(options.value_format, columns.in_value(), options.value_options);
    parts.key = make(options.key_format, columns.in_key(), options.key_options);
    parts.null_values = options.value_format == "raw";
    return KafkaRecordDecoder(std::move(parts));
  }
};

// As KafkaFetcher copies them: one buffer, and a line break behind each value.
KafkaRecords RecordsFrom(std::string_view input, std::string* bytes) {
  KafkaRecords records;
  bytes->reserve(2 * input.size() + kMostRecords + Buffer::kPadding);
  const auto keep = [&](std::string_view text) {
    const size_t at = bytes->size();
    bytes->append(text);
    return std::string_view(bytes->data() + at, text.size());
  };
  Take take(input);
  while (!take.empty() && records.batch.records.size() < kMostRecords) {
    const uint8_t flags = take.Byte();
    RawRecord record;
    record.value = keep((flags & 1) != 0 ? "" : take.Text());
    bytes->push_back('\n');
    record.key = keep((flags & 2) != 0 ? "" : take.Text());
    record.offset = static_cast<int64_t>(records.batch.records.size()) * 3;
    record.timestamp_millis = (flags & 4) != 0 ? -1 : int64_t{1'700'000'000'000} + take.Byte();
    records.no_value.push_back(flags & 1);
    records.no_key.push_back(flags >> 1 & 1);
    records.timestamp_type.push_back((flags >> 3) % 3);
    records.leader_epoch.push_back(flags >> 5);
    for (int left = take.Byte() % 8; left > 0; --left) {
      const std::string_view name = keep(take.Text());
      const bool null = take.Byte() % 4 == 0;
      records.headers.push_back({name, null ? std::string_view() : keep(take.Text()), null});
    }
    records.header_end.push_back(static_cast<uint32_t>(records.headers.size()));
    records.batch.records.push_back(record);
  }
  bytes->append(Buffer::kPadding, '\0');
  return records;
}

// Every record has one end, and what there is of it is what it was.
void CheckRows(const KafkaRecords& records, const SourceRows& rows) {
  const size_t count = records.batch.records.size();
  if (static_cast<size_t>(rows.chunk.size()) + rows.rejected.size() != count) std::abort();
  std::vector<uint8_t> ends(count, 0);
  const RowSet selected = rows.chunk.rows();
  for (int32_t i = 0; i < selected.count; ++i) {
    const size_t at = static_cast<size_t>(selected[i]);
    ++ends[at];
    for (const ColumnPtr& column : rows.chunk.columns()) (void)ValueAt(*column, selected[i]);
    if (ValueAt(*rows.key, selected[i]).is_null() != (records.no_key[at] != 0)) std::abort();
    const Value headers = ValueAt(*rows.headers, selected[i]);
    if (std::get<ValueList>(headers.data).empty() !=
        (records.header_end[at] == (at == 0 ? 0 : records.header_end[at - 1])))
      std::abort();
  }
  for (const RejectedRecord& rejected : rows.rejected) {
    const size_t at = static_cast<size_t>(rejected.offset / 3);
    if (rejected.message.empty() || at >= count || rejected.raw != records.batch.records[at].value)
      std::abort();
    if (rejected.no_value != (records.no_value[at] != 0)) std::abort();
    if (rejected.key.has_value() == (records.no_key[at] != 0)) std::abort();
    ++ends[at];
  }
  for (const uint8_t each : ends) {
    if (each != 1) std::abort();
  }
}

// The headers of the record and of its reason are all there, and are sent again as they were.
void CheckLetter(const KafkaRecords& records, size_t at) {
  const Letter letter = LetterOfRecord(records, at);
  const uint32_t first = at == 0 ? 0 : records.header_end[at - 1];
  if (letter.headers.size() + letter.reason.size() != records.header_end[at] - first) std::abort();
  (void)letter.id();
  std::string sent;
  for (const auto& [name, value] : letter.headers) {
    const std::string_view bytes = value ? std::string_view(*value) : std::string_view();
    AppendHeader(name, value ? &bytes : nullptr, &sent);
  }
  size_t from = 0;
  for (const auto& [name, value] : letter.headers) {
    std::string_view read_name, read_value;
    if (!ReadHeader(sent, &from, &read_name, &read_value) || read_name != name) std::abort();
    if ((read_value.data() == nullptr) == value.has_value() || read_value != value.value_or("")) std::abort();
  }
  if (from != sent.size()) std::abort();
}

void Run(uint8_t bits, std::string_view input) {
  static std::unique_ptr<Reading> readings[8];
  std::unique_ptr<Reading>& reading = readings[bits % 8];
  if (reading == nullptr) reading = Reading::Of(bits % 8);
  std::string bytes;
  const KafkaRecords records = RecordsFrom(input, &bytes);
  if (!records.batch.records.empty()) {
    KafkaRecordDecoder decoder = reading->Decoder();
    const auto rows = decoder.Decode(records);
    if (!rows.ok()) std::abort();
    CheckRows(records, *rows);
  }
  for (size_t at = 0; at < records.batch.records.size(); ++at) CheckLetter(records, at);
  std::string_view name, value;
  for (size_t at = 0, last = 0; at < input.size() && ReadHeader(input, &at, &name, &value); last = at) {
    if (at <= last || at > input.size()) std::abort();
  }
}

}  // namespace
}  // namespace caudal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) caudal::Run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
