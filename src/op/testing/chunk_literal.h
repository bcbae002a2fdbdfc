// Chunk literals: test data as users see a changelog, a row a line: "+I | a | 1 | 12:00:01.000 | NULL".
//
// A schema is written "k STRING, n BIGINT, d DECIMAL(10,2), ts TIMESTAMP(3), $clock BIGINT NOT NULL"; times
// are HH:MM:SS[.mmm] of 1970-01-01, or milliseconds. For tests alone.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "data/chunk.h"
#include "data/column_builder.h"
#include "data/schema.h"

namespace caudal {

inline std::vector<std::string> SplitTrimmed(std::string_view text, char by) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  auto close = [&] {
    const size_t first = part.find_first_not_of(" \t");
    const size_t last = part.find_last_not_of(" \t");
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
    part.clear();
  };
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == by && depth == 0) {
      close();
    } else {
      part.push_back(c);
    }
  }
  close();
  return parts;
}

inline Type TypeLiteral(std::string_view text) {
  const bool not_null = text.ends_with(" NOT NULL");
  if (not_null) text.remove_suffix(9);
  int first = 0, second = 0;
  const size_t open = text.find('(');
  if (open != std::string_view::npos) {
    std::sscanf(std::string(text.substr(open)).c_str(), "(%d,%d)", &first, &second);
  }
  const std::string_view word = text.substr(0, open);
  Type type;
  if (word == "BOOLEAN") type = Type(TypeId::kBoolean);
  if (word == "INT") type = Type(TypeId::kInt);
  if (word == "BIGINT") type = Type(TypeId::kBigInt);
  if (word == "DOUBLE") type = Type(TypeId::kDouble);
  if (word == "DECIMAL") type = Type::Decimal(first, second);
  if (word == "STRING") type = Type::String();
  if (word == "TIMESTAMP") type = Type::Timestamp(first);
  if (word == "TIMESTAMP_LTZ") type = Type::TimestampLtz(first);
  CHECK(type.id() != TypeId::kNull);
  return type.WithNullable(!not_null);
}

inline Schema SchemaLiteral(std::string_view text) {
  Schema schema;
  for (const std::string& field : SplitTrimmed(text, ',')) {
    const size_t space = field.find(' ');
    schema.fields.push_back({field.substr(0, space), TypeLiteral(std::string_view(field).substr(space + 1))});
  }
  return schema;
}

inline Value ValueLiteral(const Type& type, const std::string& text) {
  if (text == "NULL") return Value();
  if (type.is_string()) return Value(text);
  if (type.id() == TypeId::kBoolean) return Value(text == "true");
  if (type.id() == TypeId::kDouble) return Value(std::strtod(text.c_str(), nullptr));
  if (type.is_timestamp()) {
    int h = 0, m = 0, s = 0, ms = 0;
    int64_t millis = std::atoll(text.c_str());
    if (text.find(':') != std::string::npos) {
      std::sscanf(text.c_str(), "%d:%d:%d.%d", &h, &m, &s, &ms);
      millis = ((h * 60 + m) * 60 + s) * int64_t{1000} + ms;
    }
    return Value(millis * (type.ticks_per_second() / 1000));
  }
  if (type.id() == TypeId::kDecimal) {
    const size_t dot = text.find('.');
    std::string digits = text;
    if (dot != std::string::npos) digits.erase(dot, 1);
    size_t fraction = dot == std::string::npos ? 0 : text.size() - dot - 1;
    for (; fraction < static_cast<size_t>(type.scale()); ++fraction) digits.push_back('0');
    const int64_t unscaled = std::atoll(digits.c_str());
    return type.physical() == Physical::kInt128 ? Value(static_cast<int128_t>(unscaled)) : Value(unscaled);
  }
  return Value(int64_t{std::atoll(text.c_str())});
}

// Empty lines are skipped; a missing row kind is +I.
inline Chunk ChunkLiteral(const Schema& schema, std::string_view text) {
  std::vector<ColumnBuilder> builders;
  for (const Field& field : schema.fields) builders.emplace_back(field.type);
  auto kinds = std::make_shared<std::vector<RowKind>>();
  for (const std::string& line : SplitTrimmed(text, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> cells = SplitTrimmed(line, '|');
    RowKind kind = RowKind::kInsert;
    if (cells.size() > schema.fields.size()) {
      for (int k = 0; k < 4; ++k) {
        if (cells[0] == RowKindName(static_cast<RowKind>(k))) kind = static_cast<RowKind>(k);
      }
      cells.erase(cells.begin());
    }
    CHECK(cells.size() == schema.fields.size());
    kinds->push_back(kind);
    for (size_t i = 0; i < cells.size(); ++i) {
      builders[i].AppendValue(ValueLiteral(schema.fields[i].type, cells[i]));
    }
  }
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  const int32_t rows = static_cast<int32_t>(kinds->size());
  bool all_insert = true;
  for (RowKind kind : *kinds) all_insert = all_insert && kind == RowKind::kInsert;
  return Chunk(std::move(columns), rows, nullptr, all_insert ? nullptr : std::move(kinds));
}

}  // namespace caudal
