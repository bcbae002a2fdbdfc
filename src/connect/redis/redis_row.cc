#include "connect/redis/redis_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "data/text/utf8_text.h"
#include "format/json_encoder.h"

namespace caudal {
namespace {

using Kind = RedisColumn::Kind;

// What the script of a commit knows: redis_script.cc.
constexpr std::string_view kDelete = "D";
constexpr std::string_view kSet = "S";
constexpr std::string_view kHash = "H";

std::string RealText(double value, Kind kind) {
  char text[kDoubleTextSize];
  const size_t size =
      kind == Kind::kFloat ? FormatFloat(static_cast<float>(value), text) : FormatDouble(value, text);
  return {text, size};
}

// "12:00:00.100" as "12:00:00.1": formats write no trailing zeros.
std::string WithoutTrailingZeros(std::string_view text) {
  const bool instant = text.ends_with('Z');
  if (instant) text.remove_suffix(1);
  if (text.find('.') != std::string_view::npos) {
    while (text.ends_with('0')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
  }
  return std::string(text) + (instant ? "Z" : "");
}

template <typename T>
bool AppendInteger(std::string_view text, ColumnBuilder* builder) {
  int64_t value = 0;
  if (!ParseInteger(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), &value)) return false;
  builder->Append(static_cast<T>(value));
  return true;
}

// `parse` fills a value of the physical type from the text.
template <typename T, typename Parse>
bool AppendParsed(ColumnBuilder* builder, const Parse& parse) {
  T value{};
  if (!parse(&value)) return false;
  builder->Append(value);
  return true;
}

bool AppendDecimal(std::string_view text, const Type& type, ColumnBuilder* builder) {
  int128_t unscaled = 0;
  if (!ParseDecimal(text, type.precision(), type.scale(), &unscaled)) return false;
  if (type.physical() == Physical::kInt64) {
    builder->Append(static_cast<int64_t>(unscaled));
  } else {
    builder->Append(unscaled);
  }
  return true;
}

bool AppendTime(std::string_view text, const Type& type, ColumnBuilder* builder) {
  if (type.id() == TypeId::kDate) {
    return AppendParsed<int32_t>(builder, [&](int32_t* days) { return ParseDate(text, days); });
  }
  if (type.id() == TypeId::kTime) {
    return AppendParsed<int32_t>(builder,
                                 [&](int32_t* millis) { return ParseTime(text, type.precision(), millis); });
  }
  return AppendParsed<int64_t>(builder, [&](int64_t* ticks) {
    // An instant is written with its zone, UTC.
    if (type.id() == TypeId::kTimestampLtz &&
        ParseInstantIn(TimestampForm::kSql, text, type.precision(), ticks)) {
      return true;
    }
    return ParseTimestamp(text, type.precision(), ticks);
  });
}

}  // namespace

bool AppendRedisText(std::string_view text, ColumnBuilder* builder) {
  const Type& type = builder->type();
  switch (type.id()) {
    case TypeId::kBoolean:
      return AppendParsed<uint8_t>(builder, [&](uint8_t* value) {
        bool truth = false;
        const bool read = ParseBoolean(text, &truth);
        *value = truth ? 1 : 0;
        return read;
      });
    case TypeId::kTinyInt:
      return AppendInteger<int8_t>(text, builder);
    case TypeId::kSmallInt:
      return AppendInteger<int16_t>(text, builder);
    case TypeId::kInt:
      return AppendInteger<int32_t>(text, builder);
    case TypeId::kBigInt:
      return AppendInteger<int64_t>(text, builder);
    case TypeId::kFloat:
      return AppendParsed<float>(builder, [&](float* value) { return ParseFloat(text, value); });
    case TypeId::kDouble:
      return AppendParsed<double>(builder, [&](double* value) { return ParseDouble(text, value); });
    case TypeId::kDecimal:
      return AppendDecimal(text, type, builder);
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      return AppendTime(text, type, builder);
    default:
      if (type.is_string() && !IsUtf8(text)) return false;
      builder->AppendString(text);
      return true;
  }
}

std::string RedisTextOf(const Cell& cell, Kind kind) {
  switch (cell.kind) {
    case Cell::Kind::kInteger:
      if (kind == Kind::kBoolean) return cell.integer != 0 ? "TRUE" : "FALSE";
      return std::to_string(cell.integer);
    case Cell::Kind::kReal:
      return RealText(cell.real, kind);
    default:
      return std::string(cell.bytes);
  }
}

void AppendRedisJson(const Cell& cell, Kind kind, std::string* out) {
  if (cell.kind == Cell::Kind::kNull) {
    out->append("null");
  } else if (kind == Kind::kBoolean) {
    out->append(cell.integer != 0 ? "true" : "false");
  } else if (kind == Kind::kBytes) {
    AppendBytesJson(cell.bytes, out);
  } else if (cell.kind == Cell::Kind::kInteger || kind == Kind::kDecimal ||
             (cell.kind == Cell::Kind::kReal && std::isfinite(cell.real))) {
    out->append(RedisTextOf(cell, kind));
  } else if (kind == Kind::kTimestamp) {
    AppendQuotedJson(WithoutTrailingZeros(cell.bytes), out);
  } else {
    AppendQuotedJson(RedisTextOf(cell, kind), out);
  }
}

Result<RedisRowWriter> RedisRowWriter::Make(RedisLayout layout) {
  ASSIGN_OR_RETURN(RedisKeyTemplate key, layout.key_template());
  return RedisRowWriter(std::move(layout), std::move(key));
}

bool RedisRowWriter::Read(const SegmentRecord& record) {
  if (!ReadCells(record)) return false;
  is_delete_ = record.is_delete;
  MakeKey(record.is_delete);
  return true;
}

void RedisRowWriter::AppendTo(RedisBatch* batch) {
  batch->ttl_millis = layout_.ttl_millis;
  batch->keys.Add(std::string_view(key_));
  if (is_delete_) {
    batch->actions.Add(kDelete);
  } else if (layout_.format == RedisFormat::kHash) {
    AppendHash(batch);
  } else if (layout_.format == RedisFormat::kString) {
    AppendString(batch);
  } else {
    AppendJson(batch);
  }
}

bool RedisRowWriter::ReadCells(const SegmentRecord& record) {
  cells_.assign(record.is_delete ? layout_.key.size() : layout_.columns.size(), Cell());
  size_t at = 0;
  for (Cell& cell : cells_) {
    if (!ReadCell(record.cells, &at, &cell)) return false;
  }
  return at == record.cells.size();
}

void RedisRowWriter::MakeKey(bool is_delete) {
  key_values_.clear();
  for (size_t i = 0; i < layout_.key.size(); ++i) {
    const auto column = static_cast<size_t>(layout_.key[i]);
    Cell cell = cells_[is_delete ? i : column];
    if (cell.kind == Cell::Kind::kReal && cell.real == 0) cell.real = 0;  // keys are equal when values are
    key_values_.push_back(cell.kind == Cell::Kind::kNull ? ""
                                                         : RedisTextOf(cell, layout_.columns[column].kind));
  }
  key_.clear();
  template_.Append(key_values_, &key_);
}

// Fields of columns that are NULL go, those that are no columns stay.
void RedisRowWriter::AppendHash(RedisBatch* batch) {
  RedisCommand set, gone;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const RedisColumn& column = layout_.columns[i];
    if (cells_[i].kind == Cell::Kind::kNull) {
      gone.Add(std::string_view(column.name));
    } else {
      set.Add(std::string_view(column.name)).Add(std::string_view(RedisTextOf(cells_[i], column.kind)));
    }
  }
  batch->actions.Add(kHash).Add(set.count).Add(gone.count).Add(set).Add(gone);
}

// No value is no key.
void RedisRowWriter::AppendString(RedisBatch* batch) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (std::find(layout_.key.begin(), layout_.key.end(), static_cast<int>(i)) != layout_.key.end()) continue;
    if (cells_[i].kind == Cell::Kind::kNull) {
      batch->actions.Add(kDelete);
    } else {
      batch->actions.Add(kSet).Add(std::string_view(RedisTextOf(cells_[i], layout_.columns[i].kind)));
    }
  }
}

void RedisRowWriter::AppendJson(RedisBatch* batch) {
  text_ = "{";
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (i > 0) text_ += ',';
    AppendQuotedJson(layout_.columns[i].name, &text_);
    text_ += ':';
    AppendRedisJson(cells_[i], layout_.columns[i].kind, &text_);
  }
  text_ += '}';
  batch->actions.Add(kSet).Add(std::string_view(text_));
}

}  // namespace caudal
