#include "format/json_column.h"

#include <algorithm>

#include "data/column_builder.h"
#include "format/json_value.h"

namespace caudal {
namespace {

constexpr size_t kArenaBytes = 16 * 1024;

size_t WidthOf(Physical physical) {
  switch (physical) {
    case Physical::kBool:
    case Physical::kInt8:
      return 1;
    case Physical::kInt16:
      return 2;
    case Physical::kInt32:
    case Physical::kFloat:
      return 4;
    case Physical::kInt64:
    case Physical::kDouble:
      return 8;
    default:
      return 16;
  }
}

}  // namespace

JsonColumn::JsonColumn(Field field, const JsonOptions* options)
    : field_(std::move(field)), options_(options), kind_(KindOf(field_.type)) {
  if (field_.type.is_integer()) range_ = RangeOf(field_.type.id());
  if (field_.type.is_timestamp()) timestamps_ = JsonTimestampCache(field_.type, options->timestamp_form);
}

bool JsonColumn::Supports(const Type& type) { return CanReadJson(type); }

JsonColumn::Kind JsonColumn::KindOf(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return Kind::kBoolean;
    case TypeId::kTinyInt:
      return Kind::kInt8;
    case TypeId::kSmallInt:
      return Kind::kInt16;
    case TypeId::kInt:
      return Kind::kInt32;
    case TypeId::kBigInt:
      return Kind::kInt64;
    case TypeId::kFloat:
      return Kind::kFloat;
    case TypeId::kDouble:
      return Kind::kDouble;
    case TypeId::kDecimal:
      return type.physical() == Physical::kInt64 ? Kind::kDecimal64 : Kind::kDecimal128;
    case TypeId::kChar:
    case TypeId::kVarChar:
      return Kind::kString;
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return Kind::kBytes;
    case TypeId::kDate:
      return Kind::kDate;
    case TypeId::kTime:
      return Kind::kTime;
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      return Kind::kTimestamp;
    default:
      return Kind::kNested;
  }
}

void JsonColumn::Begin(int32_t rows) {
  const size_t count = static_cast<size_t>(rows);
  has_null_ = false;
  nulls_.assign((count + 63) / 64, 0);
  arenas_.clear();
  arena_left_ = 0;
  if (kind_ == Kind::kNested) {
    nested_.assign(count, Value());
    return;
  }
  coded_ = kind_ == Kind::kString && encoder_.worthwhile();
  const size_t width = coded_ ? sizeof(int32_t) : WidthOf(field_.type.physical());
  values_ = Buffer::Allocate(count * width);
  values_at_ = values_->mutable_data();
  if (coded_) std::fill_n(values<int32_t>(), count, 0);  // a code for rows that stay NULL
}

bool JsonColumn::ReadPlain(const char* token, size_t size, int32_t row) {
  int64_t integer = 0;
  if (*token == '"') {
    if (size < 2 || token[size - 1] != '"') return false;
    const std::string_view text(token + 1, size - 2);
    if (kind_ == Kind::kTimestamp) return timestamps_.Parse(text, &values<int64_t>()[row]);
    if (kind_ != Kind::kString || HasBackslash(text)) return false;
    StoreString(text, row);
    return true;
  }
  switch (kind_) {
    case Kind::kInt64:
      if (!ReadPlainInteger({token, size}, &integer)) return false;
      values<int64_t>()[row] = integer;
      return true;
    case Kind::kInt32:
      if (!ReadPlainInteger({token, size}, &integer)) return false;
      values<int32_t>()[row] = static_cast<int32_t>(integer);
      return true;
    case Kind::kDecimal64: {
      const Type& type = field_.type;
      return JsonToPlainDecimal({token, size}, type.precision(), type.scale(), &values<int64_t>()[row]);
    }
    case Kind::kDouble:
      return JsonToPlainDouble({token, size}, &values<double>()[row]);
    case Kind::kBoolean: {
      const bool value = *token == 't';
      if (std::string_view(token, size) != (value ? "true" : "false")) return false;
      values<uint8_t>()[row] = value ? 1 : 0;
      return true;
    }
    default:
      return false;
  }
}

JsonColumn::Outcome JsonColumn::Read(JsonCursor* cursor, int32_t row) {
  if (has_null_) nulls_[static_cast<size_t>(row) >> 6] &= ~(uint64_t{1} << (row & 63));
  const char first = cursor->kind();
  if (kind_ == Kind::kNested || first == '{' || first == '[') return ReadContainer(cursor, row);
  JsonScalar scalar;
  if (!cursor->ReadScalar(&scalar)) return Outcome::kWrongJson;
  if (scalar.kind == JsonScalar::Kind::kNull) {
    SetNull(row);
    return Outcome::kDone;
  }
  if (scalar.escaped && kind_ != Kind::kString) {
    // Only text may hold escapes in earnest; elsewhere they are rare, so a copy does.
    scratch_.resize(scalar.text.size());
    size_t size = 0;
    if (!UnescapeJson(scalar.text, scratch_.data(), &size)) return Outcome::kWrongValue;
    scalar.text = std::string_view(scratch_).substr(0, size);
  }
  return Put(scalar, row) ? Outcome::kDone : Outcome::kWrongValue;
}

bool JsonColumn::Put(const JsonScalar& scalar, int32_t row) {
  int64_t integer = 0;
  switch (kind_) {
    case Kind::kString:
      return PutString(scalar, row);
    case Kind::kInt64:
      return JsonToInteger(scalar, range_.min, range_.max, &values<int64_t>()[row]);
    case Kind::kInt32:
      if (!JsonToInteger(scalar, range_.min, range_.max, &integer)) return false;
      values<int32_t>()[row] = static_cast<int32_t>(integer);
      return true;
    case Kind::kInt16:
      if (!JsonToInteger(scalar, range_.min, range_.max, &integer)) return false;
      values<int16_t>()[row] = static_cast<int16_t>(integer);
      return true;
    case Kind::kInt8:
      if (!JsonToInteger(scalar, range_.min, range_.max, &integer)) return false;
      values<int8_t>()[row] = static_cast<int8_t>(integer);
      return true;
    case Kind::kTimestamp:
      return JsonToTimestamp(scalar, field_.type, options_->timestamp_form, &values<int64_t>()[row]);
    case Kind::kDecimal64:
    case Kind::kDecimal128:
      return PutDecimal(scalar, row);
    case Kind::kDouble:
      return JsonToDouble(scalar, &values<double>()[row]);
    case Kind::kFloat:
      return JsonToFloat(scalar, &values<float>()[row]);
    case Kind::kBoolean:
      values<uint8_t>()[row] = JsonToBoolean(scalar) ? 1 : 0;
      return true;
    case Kind::kDate:
      return JsonToDate(scalar, &values<int32_t>()[row]);
    case Kind::kTime:
      return JsonToTime(scalar, field_.type.precision(), &values<int32_t>()[row]);
    case Kind::kBytes:
      return PutBytes(scalar, row);
    case Kind::kNested:
      return false;
  }
  return false;
}

bool JsonColumn::PutDecimal(const JsonScalar& scalar, int32_t row) {
  bool fits = true;
  const Type& type = field_.type;
  if (kind_ == Kind::kDecimal64) {
    if (!JsonToDecimal64(scalar, type.precision(), type.scale(), &values<int64_t>()[row], &fits))
      return false;
  } else {
    if (!JsonToDecimal128(scalar, type.precision(), type.scale(), &values<int128_t>()[row], &fits))
      return false;
  }
  if (!fits) SetNull(row);
  return true;
}

void JsonColumn::StoreString(std::string_view text, int32_t row) {
  if (coded_) {
    const int32_t code = encoder_.Encode(text);
    if (code != DictionaryEncoder::kFull) {
      values<int32_t>()[row] = code;
      return;
    }
    Flatten(row);
  }
  values<StringView>()[row] = StringView(text);
}

// Gives up codes in the middle of a batch, which takes records that repeat a name thousands of times.
void JsonColumn::Flatten(int32_t rows) {
  MutableBufferPtr codes = values_;
  const StringView* names = encoder_.dictionary()->values();
  coded_ = false;
  values_ = Buffer::Allocate(codes->size() / sizeof(int32_t) * sizeof(StringView));
  values_at_ = values_->mutable_data();
  for (int32_t row = 0; row < rows; ++row) {
    const std::string_view text = names[codes->as<int32_t>()[row]].view();
    char* to = Reserve(text.size());
    std::copy(text.begin(), text.end(), to);
    values<StringView>()[row] = StringView({to, text.size()});
  }
}

bool JsonColumn::PutString(const JsonScalar& scalar, int32_t row) {
  if (!scalar.escaped) {
    StoreString(scalar.text, row);
    return true;
  }
  char* to = Reserve(scalar.text.size());
  size_t size = 0;
  if (!UnescapeJson(scalar.text, to, &size)) return false;
  StoreString({to, size}, row);
  return true;
}

bool JsonColumn::PutBytes(const JsonScalar& scalar, int32_t row) {
  std::string bytes;
  if (!JsonToBytes(scalar, &bytes)) return false;
  char* to = Reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), to);
  values<StringView>()[row] = StringView({to, bytes.size()});
  return true;
}

JsonColumn::Outcome JsonColumn::ReadContainer(JsonCursor* cursor, int32_t row) {
  if (kind_ == Kind::kNested) {
    switch (ReadJsonValue(cursor, field_.type, *options_, &nested_[static_cast<size_t>(row)])) {
      case JsonRead::kDone:
        return Outcome::kDone;
      case JsonRead::kWrongValue:
        return Outcome::kWrongValue;
      case JsonRead::kWrongJson:
        return Outcome::kWrongJson;
    }
  }
  std::string_view raw;
  if (!cursor->Skip(&raw)) return Outcome::kWrongJson;
  if (kind_ != Kind::kString) return Outcome::kWrongValue;
  const std::string text = MinifyJson(raw);
  char* to = Reserve(text.size());
  std::copy(text.begin(), text.end(), to);
  StoreString({to, text.size()}, row);
  return Outcome::kDone;
}

char* JsonColumn::Reserve(size_t size) {
  if (arenas_.empty() || size > arena_left_) {
    const size_t bytes = std::max(size, kArenaBytes);
    arenas_.push_back(Buffer::Allocate(bytes));
    arenas_.back()->set_size(0);
    arena_left_ = bytes;
  }
  Buffer& arena = *arenas_.back();
  char* to = arena.mutable_data() + arena.size();
  arena.set_size(arena.size() + size);
  arena_left_ -= size;
  return to;
}

ColumnPtr JsonColumn::FinishNested(int32_t rows) {
  ColumnBuilder builder(field_.type, rows);
  for (int32_t row = 0; row < rows; ++row) {
    const size_t at = static_cast<size_t>(row);
    const bool null = (nulls_[at >> 6] >> (at & 63) & 1) != 0 || nested_[at].is_null();
    if (null) {
      builder.AppendNull();
    } else {
      builder.AppendValue(nested_[at]);
    }
  }
  return builder.Finish();
}

ColumnPtr JsonColumn::Finish(int32_t rows, const std::vector<BufferPtr>& pins) {
  if (kind_ == Kind::kNested) return FinishNested(rows);
  BufferPtr validity;
  if (has_null_) {
    MutableBufferPtr bits = Buffer::Allocate(nulls_.size() * sizeof(uint64_t));
    for (size_t i = 0; i < nulls_.size(); ++i) bits->mutable_as<uint64_t>()[i] = ~nulls_[i];
    validity = std::move(bits);
    // A NULL's value is to be readable.
    for (int32_t row = 0; row < rows && (kind_ == Kind::kString || kind_ == Kind::kBytes); ++row) {
      if ((nulls_[static_cast<size_t>(row) >> 6] >> (row & 63) & 1) == 0) continue;
      if (!coded_) values<StringView>()[row] = StringView();
    }
  }
  if (coded_) {
    encoder_.EndBatch();
    // All NULL and nothing seen yet: there must be a value to name.
    if (encoder_.dictionary()->size() == 0) return Column::Null(field_.type, rows);
    return Column::Dictionary(field_.type, rows, values_, validity, encoder_.dictionary(),
                              encoder_.dictionary()->size());
  }
  std::vector<BufferPtr> strings;
  if (kind_ == Kind::kString) strings = pins;
  strings.insert(strings.end(), arenas_.begin(), arenas_.end());
  return Column::Flat(field_.type, rows, values_, validity, std::move(strings));
}

}  // namespace caudal
