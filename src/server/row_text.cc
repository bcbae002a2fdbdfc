#include "server/row_text.h"

#include <nlohmann/json.hpp>

#include "data/column_view.h"
#include "expr/scalar_function.h"

namespace caudal {
namespace {

// Whether the cast's text is a JSON value as it stands.
bool IsBare(const Type& type, std::string_view text) {
  if (type.id() == TypeId::kBoolean) return true;
  if (!type.is_numeric()) return false;
  return text != "NaN" && text != "Infinity" && text != "-Infinity";
}

void AppendBoolean(std::string_view text, std::string* out) {
  *out += text == "TRUE" || text == "true" ? "true" : "false";
}

}  // namespace

Result<RowText> RowText::Make(Schema schema, const EvaluatorOptions& options) {
  std::vector<Expr> casts;
  for (int i = 0; i < schema.size(); ++i) {
    ASSIGN_OR_RETURN(Expr cast, BindCast(Expr::Column(i, schema[i].name, schema[i].type), Type::String()));
    casts.push_back(std::move(cast));
  }
  RowText text(std::move(schema), std::move(casts), options);
  for (const Field& field : text.schema_.fields) text.names_.push_back(JsonQuoted(field.name) + ": ");
  return text;
}

Status RowText::Load(const Chunk& chunk) {
  chunk_ = &chunk;
  rows_ = chunk.rows();
  texts_.clear();
  RowErrors errors;
  for (const Expr& cast : casts_) texts_.push_back(evaluator_.Eval(cast, chunk, rows_, errors));
  return errors.empty() ? Status() : Status::Data(errors.entries()[0].message);
}

bool RowText::IsNull(int32_t i, int column) const {
  return texts_[static_cast<size_t>(column)]->IsNull(rows_[i]);
}

std::string_view RowText::text(int32_t i, int column) const {
  return ColumnView<StringView>(*texts_[static_cast<size_t>(column)])[rows_[i]].view();
}

void RowText::AppendLine(int32_t i, std::string* out) const {
  for (int column = 0; column < schema_.size(); ++column) {
    if (column > 0) *out += '\t';
    if (IsNull(i, column)) {
      *out += "\\N";
      continue;
    }
    for (const char c : text(i, column)) {
      if (c == '\t') {
        *out += "\\t";
      } else if (c == '\n') {
        *out += "\\n";
      } else if (c == '\\') {
        *out += "\\\\";
      } else {
        *out += c;
      }
    }
  }
  *out += '\n';
}

void RowText::AppendJson(int32_t i, std::string* out) const {
  *out += '{';
  for (int column = 0; column < schema_.size(); ++column) {
    if (column > 0) *out += ", ";
    *out += names_[static_cast<size_t>(column)];
    const Type& type = schema_[column].type;
    if (IsNull(i, column)) {
      *out += "null";
    } else if (!IsBare(type, text(i, column))) {
      *out += JsonQuoted(text(i, column));
    } else if (type.id() == TypeId::kBoolean) {
      AppendBoolean(text(i, column), out);
    } else {
      *out += text(i, column);
    }
  }
  *out += '}';
}

std::string JsonQuoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace caudal
