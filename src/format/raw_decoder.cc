#include "format/raw_decoder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>

namespace caudal {
namespace {

size_t RawWidth(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
    case TypeId::kTinyInt:
      return 1;
    case TypeId::kSmallInt:
      return 2;
    case TypeId::kInt:
    case TypeId::kFloat:
      return 4;
    case TypeId::kBigInt:
    case TypeId::kDouble:
      return 8;
    default:
      return 0;
  }
}

// The rows that have no error.
void Deselect(DecodedRows* out) {
  if (out->errors.empty()) return;
  auto* selection = new Selection();
  auto error = out->errors.begin();
  for (int32_t row = 0; row < out->row_count; ++row) {
    if (error != out->errors.end() && error->record == row) {
      ++error;
    } else {
      selection->rows.push_back(static_cast<uint16_t>(row));
    }
  }
  out->selection = SelectionPtr(selection);
}

}  // namespace

Result<std::unique_ptr<RawDecoder>> RawDecoder::Make(const Schema& schema) {
  if (schema.size() != 1) {
    return Status::User(fmt::format("format 'raw' reads one column, the table has {}", schema.size()))
        .Hint("declare one column of STRING or BYTES");
  }
  const Field& field = schema[0];
  if (RawWidth(field.type) == 0 && !field.type.is_string() && !field.type.is_binary()) {
    return Status::User(
        fmt::format("format 'raw' cannot read column '{}' of type {}", field.name, field.type.ToString()));
  }
  return std::unique_ptr<RawDecoder>(new RawDecoder(field));
}

ColumnPtr RawDecoder::DecodeNumbers(const RawBatch& batch, DecodedRows* out) const {
  const size_t width = RawWidth(field_.type);
  MutableBufferPtr values = Buffer::Allocate(batch.records.size() * width);
  std::memset(values->mutable_data(), 0, values->size());
  for (size_t i = 0; i < batch.records.size(); ++i) {
    const std::string_view bytes = batch.records[i].value;
    if (bytes.size() != width) {
      out->errors.push_back(
          {static_cast<int32_t>(i), fmt::format("column '{}': {} bytes are not a {}", field_.name,
                                                bytes.size(), field_.type.ToString())});
      continue;
    }
    for (size_t b = 0; b < width; ++b) values->mutable_data()[i * width + b] = bytes[width - 1 - b];
    if (field_.type.id() == TypeId::kBoolean) values->mutable_data()[i] = bytes[0] != 0 ? 1 : 0;
  }
  Deselect(out);
  return Column::Flat(field_.type, static_cast<int32_t>(batch.records.size()), values, nullptr);
}

Status RawDecoder::Decode(const RawBatch& batch, DecodedRows* out) {
  const int32_t rows = static_cast<int32_t>(batch.records.size());
  *out = DecodedRows();
  out->row_count = rows;
  if (RawWidth(field_.type) != 0) {
    out->columns.push_back(DecodeNumbers(batch, out));
    return Status();
  }
  MutableBufferPtr views = Buffer::Allocate(batch.records.size() * sizeof(StringView));
  for (size_t i = 0; i < batch.records.size(); ++i) {
    const RawRecord& record = batch.records[i];
    views->mutable_as<StringView>()[i] = StringView(record.value);
    if (record.cut) {
      out->errors.push_back({static_cast<int32_t>(i), std::string(kRecordCut)});
    } else if (field_.type.is_string() && !simdjson::validate_utf8(record.value)) {
      out->errors.push_back(
          {static_cast<int32_t>(i), fmt::format("column '{}': the line is not UTF-8", field_.name)});
    }
  }
  Deselect(out);
  out->columns.push_back(Column::Flat(field_.type, rows, views, nullptr, batch.pins));
  return Status();
}

}  // namespace caudal
