#include "drill/changelog_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/column_builder.h"
#include "data/column_view.h"
#include "drill/test_file.h"
#include "expr/scalar_function.h"

namespace caudal::drill {
namespace {

std::optional<RowKind> FindKind(std::string_view cell) {
  for (RowKind kind : {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter, RowKind::kDelete}) {
    if (cell == RowKindName(kind)) return kind;
  }
  return std::nullopt;
}

Result<TextChange> ParseChange(const std::string& line) {
  TextChange change;
  change.cells = SplitCells(line);
  const std::optional<RowKind> kind = FindKind(change.cells[0]);
  if (!kind) return Status::User(fmt::format("'{}' does not begin with a row kind", line));
  change.kind = *kind;
  change.cells.erase(change.cells.begin());
  return change;
}

// BYTES are shown as x'6162'.
std::string HexText(std::string_view bytes) {
  std::string text = "x'";
  for (char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text + "'";
}

std::map<std::string, std::vector<std::string>> ByKey(const std::vector<TextChange>& changes,
                                                      const std::vector<int>& key) {
  std::map<std::string, std::vector<std::string>> by_key;
  for (const TextChange& change : changes) {
    std::string name = key.empty() ? change.row() : "";
    for (int column : key) name += change.cells[static_cast<size_t>(column)] + "\t";
    by_key[name].push_back(change.ToString());
  }
  return by_key;
}

}  // namespace

std::string TextChange::row() const { return fmt::format("{}", fmt::join(cells, "\t")); }
std::string TextChange::ToString() const { return fmt::format("{}\t{}", RowKindName(kind), row()); }

Status AppendChanges(const Chunk& chunk, const Schema& schema, const EvaluatorOptions& options,
                     std::vector<TextChange>* out) {
  Evaluator evaluator(options);
  RowErrors errors;
  std::vector<ColumnPtr> texts;
  for (int i = 0; i < schema.size(); ++i) {
    if (schema[i].type.is_binary()) {
      texts.push_back(chunk.column(i));
      continue;
    }
    ASSIGN_OR_RETURN(Expr text, BindCast(Expr::Column(i, schema[i].name, schema[i].type), Type::String()));
    texts.push_back(evaluator.Eval(text, chunk, chunk.rows(), errors));
  }
  if (!errors.empty()) return Status::Data(errors.entries()[0].message);
  const RowSet rows = chunk.rows();
  for (int32_t i = 0; i < rows.count; ++i) {
    TextChange change{chunk.kind(rows[i]), {}};
    for (size_t c = 0; c < texts.size(); ++c) {
      const ColumnView<StringView> view(*texts[c]);
      const std::string_view text = view[rows[i]].view();
      const bool binary = schema[static_cast<int>(c)].type.is_binary();
      change.cells.push_back(view.IsNull(rows[i]) ? "<NULL>" : binary ? HexText(text) : EscapeCell(text));
    }
    out->push_back(std::move(change));
  }
  return Status();
}

Result<Chunk> ParseRows(const std::vector<std::string>& lines, const Schema& schema,
                        const EvaluatorOptions& options) {
  std::vector<ColumnBuilder> builders;
  for (int i = 0; i < schema.size(); ++i) builders.emplace_back(Type::String());
  auto kinds = std::make_shared<std::vector<RowKind>>();
  for (const std::string& line : lines) {
    std::vector<std::string> cells = SplitCells(line);
    const std::optional<RowKind> kind = FindKind(cells[0]);
    if (kind) cells.erase(cells.begin());
    kinds->push_back(kind.value_or(RowKind::kInsert));
    if (cells.size() != builders.size()) {
      return Status::User(
          fmt::format("{} columns are wanted, here are {}: '{}'", builders.size(), cells.size(), line));
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::optional<std::string> text = UnescapeCell(cells[i]);
      text ? builders[i].AppendString(*text) : builders[i].AppendNull();
    }
  }
  const int32_t count = static_cast<int32_t>(lines.size());
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  const Chunk texts(std::move(columns), count);
  Evaluator evaluator(options);
  RowErrors errors;
  std::vector<ColumnPtr> values;
  for (int i = 0; i < schema.size(); ++i) {
    ASSIGN_OR_RETURN(Expr value, BindCast(Expr::Column(i, schema[i].name, Type::String()), schema[i].type));
    values.push_back(evaluator.Eval(value, texts, texts.rows(), errors));
  }
  if (!errors.empty()) return Status::User(errors.entries()[0].message);
  const bool insert_only =
      std::all_of(kinds->begin(), kinds->end(), [](RowKind kind) { return kind == RowKind::kInsert; });
  return Chunk(std::move(values), count, nullptr, insert_only ? nullptr : std::move(kinds));
}

Result<std::vector<std::string>> Fold(const std::vector<TextChange>& changes) {
  std::map<std::string, int64_t> net;
  for (const TextChange& change : changes) {
    int64_t& count = net[change.row()];
    count += IsAdd(change.kind) ? 1 : -1;
  }
  std::vector<std::string> rows;
  for (const auto& [row, count] : net) {
    if (count < 0)
      return Status::Internal(fmt::format("the changelog takes back a row that it never gave: '{}'", row));
    rows.insert(rows.end(), static_cast<size_t>(count), row);
  }
  return rows;
}

Result<std::vector<TextChange>> UpsertFold(std::vector<TextChange> changes, const std::vector<int>& key) {
  std::map<std::string, TextChange> table;
  for (TextChange& change : changes) {
    std::string name;
    for (int column : key) name += change.cells[static_cast<size_t>(column)] + "\t";
    if (IsAdd(change.kind)) {
      change.kind = RowKind::kInsert;
      table.insert_or_assign(std::move(name), std::move(change));
    } else {
      table.erase(name);
    }
  }
  changes.clear();
  for (auto& [name, change] : table) changes.push_back(std::move(change));
  return changes;
}

std::string CompareLines(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  if (expected == actual) return "";
  std::string text = "expected\n";
  for (const std::string& line : expected) text += "    " + line + "\n";
  text += "  but got\n";
  for (const std::string& line : actual) text += "    " + line + "\n";
  return text;
}

std::string CompareChanges(const std::vector<std::string>& expected, const std::vector<TextChange>& actual) {
  std::vector<std::string> lines;
  for (const TextChange& change : actual) lines.push_back(change.ToString());
  return CompareLines(expected, lines);
}

std::string CompareNetChanges(const std::vector<std::string>& expected,
                              const std::vector<TextChange>& actual) {
  std::map<std::string, int64_t> net;
  for (const std::string& line : expected) {
    Result<TextChange> change = ParseChange(line);
    if (!change.ok()) return change.status().ToString();
    net[change->row()] += IsAdd(change->kind) ? 1 : -1;
  }
  for (const TextChange& change : actual) net[change.row()] -= IsAdd(change.kind) ? 1 : -1;
  const bool equal = std::all_of(net.begin(), net.end(), [](const auto& entry) { return entry.second == 0; });
  return equal ? "" : CompareChanges(expected, actual);
}

std::string CompareChangesPerKey(const std::vector<std::string>& expected,
                                 const std::vector<TextChange>& actual, const std::vector<int>& per_key) {
  std::vector<TextChange> wanted;
  for (const std::string& line : expected) {
    Result<TextChange> change = ParseChange(line);
    if (!change.ok()) return change.status().ToString();
    wanted.push_back(std::move(*change));
  }
  return ByKey(wanted, per_key) == ByKey(actual, per_key) ? "" : CompareChanges(expected, actual);
}

}  // namespace caudal::drill
