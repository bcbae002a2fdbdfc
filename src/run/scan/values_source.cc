#include "run/scan/values_source.h"

#include <charconv>

#include "data/column_builder.h"

namespace caudal {
namespace {

class OneSplit : public SplitEnumerator {
 public:
  Result<std::vector<Split>> Discover() override {
    std::vector<Split> splits;
    if (!found_) splits.push_back({"values", 0});
    found_ = true;
    return splits;
  }
  bool complete() const override { return found_; }
  std::string Snapshot() const override { return found_ ? "1" : "0"; }
  Status Restore(std::string_view snapshot) override {
    found_ = snapshot == "1";
    return Status();
  }

 private:
  bool found_ = false;
};

class ValuesReader : public SplitReader {
 public:
  ValuesReader(const Chunk* rows, int32_t next) : rows_(rows), first_(next), next_(next) {}
  Result<Poll> Next() override {
    const int32_t count = std::min(rows_->physical_rows() - next_, Chunk::kMaxRows);
    if (count <= 0) return Poll(Finished{});
    std::vector<uint16_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), static_cast<uint16_t>(next_));
    next_ += count;
    std::vector<ColumnPtr> columns;
    for (const ColumnPtr& column : rows_->columns())
      columns.push_back(CopyRows(*column, numbers.data(), count));
    SourceRows rows;
    rows.chunk = Chunk(std::move(columns), count);
    return Poll(std::move(rows));
  }
  Position position() const override { return std::to_string(next_); }
  int64_t records_passed() const override { return next_ - first_; }

 private:
  const Chunk* rows_;
  const int32_t first_;
  int32_t next_;
};

}  // namespace

Result<std::unique_ptr<Source>> ValuesSource::Make(const PlanNode& node, const EvaluatorOptions& options) {
  const ValuesNode& values = *node.as<ValuesNode>();
  if (values.rows.size() > UINT16_MAX) {
    return Status::User("VALUES has " + std::to_string(values.rows.size()) + " rows, more than 65535")
        .Hint("put them in a file and read it with the filesystem connector");
  }
  std::vector<ColumnBuilder> builders;
  const size_t width = values.rows.empty() ? 0 : values.rows[0].size();
  for (size_t i = 0; i < width; ++i) builders.emplace_back(node.schema[static_cast<int>(i)].type);
  for (const std::vector<Expr>& row : values.rows) {
    for (size_t i = 0; i < width; ++i) {
      const Result<Value> value = EvalConstant(row[i], options);
      if (!value.ok()) return Status::Data(row[i].ToString() + ": " + value.status().message());
      value->is_null() ? builders[i].AppendNull() : builders[i].AppendValue(*value);
    }
  }
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  return std::unique_ptr<Source>(
      new ValuesSource(Chunk(std::move(columns), static_cast<int32_t>(values.rows.size()))));
}

std::unique_ptr<SplitEnumerator> ValuesSource::MakeEnumerator() { return std::make_unique<OneSplit>(); }

Result<std::unique_ptr<SplitReader>> ValuesSource::Open(const Split&, const Position& position) {
  int32_t next = 0;
  std::from_chars(position.data(), position.data() + position.size(), next);
  return std::unique_ptr<SplitReader>(std::make_unique<ValuesReader>(&rows_, next));
}

PlanNode ScanOfValues(const PlanNode& node) {
  PlanNode scan = node;
  ScanNode payload;
  payload.table.name = node.id;
  for (const Field& field : node.schema.fields) {
    if (field.name.starts_with('$')) continue;
    payload.columns.push_back(static_cast<int>(payload.table.columns.size()));
    payload.table.columns.push_back({field.name, field.type.WithNullable(true)});
  }
  scan.payload = std::move(payload);
  return scan;
}

}  // namespace caudal
