#include "run/scan/scan_rows.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "data/column_builder.h"

namespace caudal {
namespace {

void CollectColumns(const Expr& expr, std::set<int>* columns) {
  if (expr.kind == Expr::Kind::kColumn) columns->insert(expr.column);
  for (const Expr& arg : expr.args) CollectColumns(arg, columns);
}

bool IsNotNull(const Type& type) { return !type.nullable() && type.id() != TypeId::kNull; }

// Takes the rows of `bad`, ascending in the order of `rows`, out of `rows`.
void Remove(const std::vector<uint16_t>& bad, std::vector<uint16_t>* rows) {
  size_t next = 0;
  std::erase_if(*rows, [&](uint16_t row) {
    const bool hit = next < bad.size() && bad[next] == row;
    next += hit;
    return hit;
  });
}

Chunk Select(const Chunk& chunk, std::vector<uint16_t> rows) {
  auto selection = std::make_unique<Selection>();
  selection->rows = std::move(rows);
  return chunk.WithSelection(SelectionPtr(std::move(selection)));
}

}  // namespace

ScanRows::ScanRows(const PlanNode& node, const Table* dead_letter, bool batch, int64_t max_skew)
    : node_(node), scan_(*node.as<ScanNode>()), batch_(batch), max_skew_(max_skew) {
  const Table& table = scan_.table;
  full_schema_ = table.schema();
  std::set<int> needed(scan_.columns.begin(), scan_.columns.end());
  if (table.watermark && !batch) {
    needed.insert(table.watermark->column);
    CollectColumns(table.watermark->expr, &needed);
  }
  for (int column : std::set<int>(needed)) {
    const TableColumn& declared = table.columns[static_cast<size_t>(column)];
    if (declared.kind != TableColumn::Kind::kComputed) continue;
    computed_.push_back(column);
    CollectColumns(*declared.computed, &needed);
  }
  // A broken contract is one whether or not the query looks at the column.
  for (size_t column = 0; column < table.columns.size(); ++column) {
    const TableColumn& declared = table.columns[column];
    if (declared.kind == TableColumn::Kind::kPhysical && IsNotNull(declared.type)) {
      needed.insert(static_cast<int>(column));
    }
  }
  const bool time_is_computed =
      table.watermark &&
      table.columns[static_cast<size_t>(table.watermark->column)].kind == TableColumn::Kind::kComputed;
  for (int column : needed) {
    const TableColumn& declared = table.columns[static_cast<size_t>(column)];
    if (declared.kind == TableColumn::Kind::kComputed) continue;
    request_.schema.fields.push_back({declared.name, declared.type});
    request_.columns.push_back(column);
    const bool is_time = table.watermark && !time_is_computed && table.watermark->column == column;
    if (IsNotNull(declared.type) || is_time) not_null_.push_back(column);
  }
  for (std::string_view hidden : {kOffsetColumn, kRawColumn}) {
    if (dead_letter == nullptr && !node.schema.Find(hidden)) continue;
    const Type type = hidden == kRawColumn ? Type::Bytes() : Type(TypeId::kBigInt);
    request_.schema.fields.push_back({std::string(hidden), type});
  }
  request_.filters = scan_.filters;
  request_.envelope =
      dead_letter != nullptr && (dead_letter->FindColumn("key") || dead_letter->FindColumn("headers"));
  full_schema_.fields.push_back({std::string(kSplitColumn), Type(TypeId::kInt)});
  full_schema_.fields.push_back({std::string(kOffsetColumn), Type(TypeId::kBigInt)});
  full_schema_.fields.push_back({std::string(kRawColumn), Type::Bytes()});
  full_schema_.fields.push_back({std::string(kFileColumn), Type::String()});
  full_schema_.fields.push_back({std::string(kKeyColumn), Type::Bytes()});
  full_schema_.fields.push_back({std::string(kHeadersColumn), HeadersType()});
  full_schema_.fields.push_back({std::string(kArrivalColumn), Type(TypeId::kBigInt)});
  read_of_column_.assign(static_cast<size_t>(full_schema_.size()), -1);
  for (size_t i = 0; i < request_.columns.size(); ++i) {
    read_of_column_[static_cast<size_t>(request_.columns[i])] = static_cast<int>(i);
  }
  for (std::string_view hidden : {kOffsetColumn, kRawColumn}) {
    if (auto at = request_.schema.Find(hidden)) {
      read_of_column_[static_cast<size_t>(*full_schema_.Find(hidden))] = *at;
    }
  }
}

// What the reader gives beside its columns; NULL for columns that nobody reads.
ColumnPtr ScanRows::Hidden(const Field& field, const Input& input) {
  const SourceRows& read = *input.read;
  const int32_t rows = read.chunk.physical_rows();
  if (field.name == kSplitColumn) {
    return ConstantColumn(field.type, Value(static_cast<int64_t>(input.split)), rows);
  }
  if (field.name == kFileColumn && !read.file.empty()) {
    return ConstantColumn(field.type, Value(read.file), rows);
  }
  if (field.name == kKeyColumn && read.key != nullptr) return read.key;
  if (field.name == kHeadersColumn && read.headers != nullptr) return read.headers;
  if (field.name == kArrivalColumn && read.arrival != nullptr) return read.arrival;
  return Column::Null(field.type, rows);
}

Chunk ScanRows::FullChunk(const Input& input) const {
  const Chunk& read = input.read->chunk;
  std::vector<ColumnPtr> columns;
  columns.reserve(read_of_column_.size());
  for (size_t i = 0; i < read_of_column_.size(); ++i) {
    const Field& field = full_schema_[static_cast<int>(i)];
    columns.push_back(read_of_column_[i] >= 0 ? read.column(read_of_column_[i]) : Hidden(field, input));
  }
  return Chunk(std::move(columns), read.physical_rows(), nullptr, read.kinds()).WithOrigin(input.origin);
}

void ScanRows::CheckContract(const Chunk& full, std::vector<uint16_t>* rows, const Reject& reject) const {
  for (int column : not_null_) {
    const Column& values = *full.column(column);
    if (!values.may_have_nulls()) continue;
    std::vector<uint16_t> bad;
    std::copy_if(rows->begin(), rows->end(), std::back_inserter(bad),
                 [&](uint16_t row) { return values.IsNull(row); });
    if (bad.empty()) continue;
    Remove(bad, rows);
    const Field& field = full_schema_[column];
    const bool declared = IsNotNull(field.type);
    reject(Select(full, std::move(bad)),
           {Fate::kDead,
            "contract",
            {"column '" + field.name +
             (declared ? "' is NULL but declared NOT NULL" : "' is NULL but is the table's row time")}});
  }
}

ColumnPtr ScanRows::EvalOrReject(const Expr& expr, const Chunk& full, Evaluator& evaluator,
                                 std::vector<uint16_t>* rows, const Reject& reject) const {
  RowErrors errors;
  ColumnPtr result = evaluator.Eval(expr, full, {rows->data(), static_cast<int32_t>(rows->size())}, errors);
  if (errors.empty()) return result;
  std::vector<RowErrors::Entry> entries = errors.entries();
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  std::vector<uint16_t> bad;
  std::vector<std::string> messages, places;
  for (const RowErrors::Entry& entry : entries) {
    bad.push_back(static_cast<uint16_t>(entry.row));
    messages.push_back(expr.ToString() + ": " + entry.message);
    places.push_back(entry.position.known() ? entry.position.ToString() : "");
  }
  Remove(bad, rows);
  reject(Select(full, std::move(bad)), {Fate::kDead, "expression", std::move(messages), std::move(places)});
  return result;
}

Chunk ScanRows::Make(const Input& input, SplitClock& clock, Evaluator& evaluator, const Reject& reject) {
  Chunk full = FullChunk(input);
  const RowSet read = input.read->chunk.rows();
  std::vector<uint16_t> rows(static_cast<size_t>(read.count));
  for (int32_t i = 0; i < read.count; ++i) rows[static_cast<size_t>(i)] = static_cast<uint16_t>(read[i]);

  CheckContract(full, &rows, reject);
  for (int column : computed_) {
    std::vector<ColumnPtr> columns = full.columns();
    columns[static_cast<size_t>(column)] = EvalOrReject(
        *scan_.table.columns[static_cast<size_t>(column)].computed, full, evaluator, &rows, reject);
    full = full.WithColumns(std::move(columns));
  }

  MutableBufferPtr before = Buffer::Allocate(sizeof(int64_t) * static_cast<size_t>(full.physical_rows()));
  int64_t* clocks = before->mutable_as<int64_t>();
  std::fill_n(clocks, full.physical_rows(), Watermark::kNone);
  if (scan_.table.watermark && !batch_) {
    const ColumnPtr watermark = EvalOrReject(scan_.table.watermark->expr, full, evaluator, &rows, reject);
    SplitClock::Rows values;
    values.watermark = watermark.get();
    values.time = full.column(scan_.table.watermark->column).get();
    values.arrival = input.read->arrival.get();
    values.wall_millis = input.wall_millis;
    values.max_skew = max_skew_;
    rows_ahead_ += clock.Advance(values, {rows.data(), static_cast<int32_t>(rows.size())}, clocks);
  }

  std::vector<ColumnPtr> columns;
  for (int i = 0; i < node_.schema.size(); ++i) {
    const Field& field = node_.schema[i];
    if (static_cast<size_t>(i) < scan_.columns.size()) {
      columns.push_back(full.column(scan_.columns[static_cast<size_t>(i)]));
    } else if (field.name == kClockColumn) {
      columns.push_back(Column::Flat(field.type, full.physical_rows(), before, nullptr));
    } else {
      columns.push_back(full.column(*full_schema_.Find(field.name)));
    }
  }
  Chunk result = full.WithColumns(std::move(columns));
  if (static_cast<int32_t>(rows.size()) == full.physical_rows()) return result;
  return Select(result, std::move(rows));
}

}  // namespace caudal
