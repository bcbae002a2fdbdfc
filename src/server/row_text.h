// RowText: rows as the texts that Flink's CAST(… AS STRING) gives, or as JSON.
//
// One thread; borrowed texts live until the next call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chunk.h"
#include "data/schema.h"
#include "expr/evaluator.h"

namespace caudal {

class RowText {
 public:
  // `schema`: of the columns shown: the first ones of each chunk.
  static Result<RowText> Make(Schema schema, const EvaluatorOptions& options);

  // The texts of a chunk's columns, for the calls below. The chunk must live as long as they are used.
  Status Load(const Chunk& chunk);
  int32_t rows() const { return rows_.count; }
  RowKind kind(int32_t i) const { return chunk_->kind(rows_[i]); }
  bool IsNull(int32_t i, int column) const;
  std::string_view text(int32_t i, int column) const;
  // Tab-separated, with NULL as \N and tab, line end and backslash escaped.
  void AppendLine(int32_t i, std::string* out) const;
  // {"name": value, …}: numbers and booleans bare, NULL null, all else as strings.
  void AppendJson(int32_t i, std::string* out) const;

  const Schema& schema() const { return schema_; }

 private:
  RowText(Schema schema, std::vector<Expr> casts, const EvaluatorOptions& options)
      : schema_(std::move(schema)), casts_(std::move(casts)), evaluator_(options) {}

  Schema schema_;
  std::vector<Expr> casts_;
  std::vector<std::string> names_;  // as JSON members: "\"name\": "
  Evaluator evaluator_;
  const Chunk* chunk_ = nullptr;
  RowSet rows_;
  std::vector<ColumnPtr> texts_;
};

// A text as a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD.
std::string JsonQuoted(std::string_view text);

}  // namespace caudal
