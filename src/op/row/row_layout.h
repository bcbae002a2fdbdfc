// RowLayout: which columns of its input an operator stores and emits, and how rows become sort keys.
//
// Made once from the schemas; const afterwards.
#pragma once

#include <string>
#include <vector>

#include "api/plan_node.h"
#include "data/row_bytes.h"
#include "data/row_key.h"
#include "data/schema.h"

namespace caudal {

class RowLayout {
 public:
  // The output's columns in order, up to `made` at their end that the operator makes, and up to $clock, which
  // it stamps: hidden columns are found by name, the others stand where they stand in the input.
  RowLayout(const Schema& input, const Schema& output, int made = 0) {
    int visible = output.size();
    while (visible > 0 && output[visible - 1].name.starts_with('$')) --visible;
    for (int i = 0; i < visible - made; ++i) columns_.push_back(i);
    visible_ = columns_.size();
    made_ = static_cast<size_t>(made);
    for (int i = visible; i < output.size(); ++i) {
      if (output[i].name == kClockColumn) continue;
      const std::optional<int> hidden = input.Find(output[i].name);
      CHECK(hidden.has_value());
      columns_.push_back(*hidden);
    }
    for (int column : columns_) {
      words_.append(words_.empty() ? "" : ", ").append(input[column].type.ToString());
    }
  }

  const std::vector<int>& columns() const { return columns_; }
  const std::string& words() const { return words_; }  // types, for fingerprints
  // Where the columns that the operator makes stand among the builders of Decode.
  size_t made_column() const { return visible_; }
  // Appends a stored row to builders of the output's columns (without $clock), leaving out those made.
  void Decode(std::string_view row, ColumnBuilder* builders) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      CHECK(DecodeValueBytes(&row, &builders[i < visible_ ? i : i + made_]));
    }
  }
  void AppendRow(const Chunk& chunk, int32_t row, std::string* out) const {
    for (int column : columns_) AppendValueBytes(*chunk.column(column), row, out);
  }

 private:
  std::vector<int> columns_;
  size_t visible_ = 0;
  size_t made_ = 0;
  std::string words_;
};

// What the rows of a TopN are ordered by, for fingerprints.
inline std::string RankWords(const TopNNode& node) {
  std::string words = node.rowtime_last ? "last of" : "by";
  for (const SortKey& key : node.order) {
    words += " " + std::to_string(key.column) + (key.ascending ? " asc" : " desc") +
             (key.nulls_first ? " nulls first" : " nulls last");
  }
  return words;
}

// Bytes that order as ORDER BY does.
inline void AppendSortKey(const std::vector<SortKey>& keys, const Chunk& chunk, int32_t row,
                          std::string* out) {
  constexpr char kFirst = 0, kMiddle = 1, kLast = 2;
  for (const SortKey& key : keys) {
    const Column& column = *chunk.column(key.column);
    if (column.IsNull(row)) {
      out->push_back(key.nulls_first ? kFirst : kLast);
      continue;
    }
    out->push_back(kMiddle);
    const size_t begin = out->size();
    AppendOrderedValue(column, row, out);
    if (key.ascending) continue;
    for (size_t i = begin; i < out->size(); ++i) (*out)[i] = static_cast<char>(~(*out)[i]);
  }
}

}  // namespace caudal
