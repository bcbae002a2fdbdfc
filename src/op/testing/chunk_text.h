// Chunks back into the text that chunk literals are written in, a row a line: for comparing in tests alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "data/chunk.h"
#include "data/schema.h"
#include "data/value.h"

namespace caudal {

inline std::string DecimalText(int128_t unscaled, int scale) {
  const bool negative = unscaled < 0;
  std::string digits = fmt::format("{}", static_cast<int64_t>(negative ? -unscaled : unscaled));
  const size_t fraction = static_cast<size_t>(scale);
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - fraction, ".");
  return (negative ? "-" : "") + digits;
}

inline std::string MillisText(int64_t millis) {
  constexpr int64_t kDay = 86'400'000;
  if (millis < 0 || millis >= 10 * kDay) return fmt::format("{}", millis);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", millis / 3'600'000, millis / 60'000 % 60, millis / 1000 % 60,
                     millis % 1000);
}

inline std::string ValueText(const Column& column, int32_t row) {
  const Value value = ValueAt(column, row);
  const Type& type = column.type();
  if (value.is_null()) return "NULL";
  if (type.is_string()) return std::get<std::string>(value.data);
  if (type.id() == TypeId::kBoolean) return std::get<bool>(value.data) ? "true" : "false";
  if (const double* number = std::get_if<double>(&value.data)) return fmt::format("{}", *number);
  const int128_t number =
      value.data.index() == 3 ? std::get<int128_t>(value.data) : int128_t{std::get<int64_t>(value.data)};
  if (type.id() == TypeId::kDecimal) return DecimalText(number, type.scale());
  if (type.is_timestamp()) return MillisText(static_cast<int64_t>(number) / (type.ticks_per_second() / 1000));
  return fmt::format("{}", static_cast<int64_t>(number));
}

// "+I | a | 1\n" for each selected row, each led by `prefix`.
inline std::string ChunkText(const Chunk& chunk, std::string_view prefix = "") {
  std::string text;
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const int32_t row = chunk.rows()[i];
    text += prefix;
    text += RowKindName(chunk.kind(row));
    for (const ColumnPtr& column : chunk.columns()) text += " | " + ValueText(*column, row);
    text += "\n";
  }
  return text;
}

}  // namespace caudal
