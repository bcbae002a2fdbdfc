#include "expr/evaluator.h"

#include "data/column_builder.h"
#include "expr/kernel.h"
#include "expr/string_output.h"

namespace caudal {
namespace {

ColumnPtr ResizeConstant(const ColumnPtr& column, int32_t size) {
  return column->size() == size ? column : Column::Constant(column, size);
}

// The rows at which every argument has a value, in `rows_left`; true when that is all of them.
bool DropNullRows(const std::vector<ColumnPtr>& args, const RowSet& rows, std::vector<uint16_t>* rows_left) {
  std::vector<const Column*> nullable;
  for (const ColumnPtr& arg : args) {
    if (arg->may_have_nulls()) nullable.push_back(arg.get());
  }
  if (nullable.empty()) return true;
  rows_left->resize(static_cast<size_t>(rows.count));
  uint16_t* to = rows_left->data();
  for (int32_t i = 0; i < rows.count; ++i) {
    const int32_t row = rows[i];
    bool valid = true;
    for (const Column* arg : nullable) valid &= !arg->IsNull(row);
    *to = static_cast<uint16_t>(row);
    to += valid ? 1 : 0;
  }
  rows_left->resize(static_cast<size_t>(to - rows_left->data()));
  return static_cast<int32_t>(rows_left->size()) == rows.count;
}

// Bit `row` of the result: every column is valid there.
MutableBufferPtr IntersectValidity(const std::vector<ColumnPtr>& columns, int32_t rows) {
  MutableBufferPtr bits;
  const size_t words = (static_cast<size_t>(rows) + 63) / 64;
  for (const ColumnPtr& column : columns) {
    if (!column->may_have_nulls()) continue;
    if (!bits) {
      bits = Buffer::Allocate(words * sizeof(uint64_t));
      std::memset(bits->mutable_data(), 0xff, bits->size());
    }
    uint64_t* to = bits->mutable_as<uint64_t>();
    if (column->encoding() == Encoding::kConstant) {
      if (column->IsNull(0)) std::memset(to, 0, bits->size());
      continue;
    }
    const uint64_t* from = column->validity();
    for (size_t i = 0; i < words; ++i) to[i] &= from[i];
  }
  return bits;
}

// `column` with other validity.
ColumnPtr WithValidity(const ColumnPtr& column, BufferPtr validity) {
  if (column->encoding() == Encoding::kDictionary) {
    return Column::Dictionary(column->type(), column->size(), column->values_buffer(), std::move(validity),
                              column->dictionary(), column->visible());
  }
  return Column::Flat(column->type(), column->size(), column->values_buffer(), std::move(validity),
                      column->strings(), column->children());
}

// Table lookups by code, for each row.
template <typename T>
ColumnPtr ExpandCodes(const Column& coded, const ColumnPtr& table, RowSet rows) {
  Output<T> out(coded.size());
  T* to = out.values();
  if constexpr (std::is_same_v<T, StringView>)
    std::memset(static_cast<void*>(to), 0, sizeof(T) * coded.size());
  const int32_t* codes = coded.codes();
  const ColumnView<T> values(*table);
  if (coded.may_have_nulls() || table->may_have_nulls()) {
    ForEachRow(rows, [&](int32_t row) {
      if (coded.IsNull(row) || values.IsNull(codes[row])) return out.SetNull(row);
      to[row] = values[codes[row]];
    });
  } else if (table->encoding() == Encoding::kFlat) {
    const T* from = table->values<T>();
    ForEachRow(rows, [&](int32_t row) { to[row] = from[codes[row]]; });
  } else {
    ForEachRow(rows, [&](int32_t row) { to[row] = values[codes[row]]; });
  }
  ColumnPtr column = out.Finish(table->type());
  if (!std::is_same_v<T, StringView>) return column;
  std::vector<BufferPtr> pinned;
  AppendPinnedBuffers(table, &pinned);
  return Column::Flat(table->type(), column->size(), column->values_buffer(), column->validity_buffer(),
                      std::move(pinned));
}

// The published values of a dictionary as a flat column.
ColumnPtr DictionaryValues(const ColumnPtr& coded) {
  const size_t bytes = static_cast<size_t>(coded->visible()) * sizeof(StringView);
  MutableBufferPtr values = Buffer::Allocate(bytes);
  std::memcpy(values->mutable_data(), static_cast<const void*>(coded->dictionary()->values()), bytes);
  std::vector<BufferPtr> pinned;
  AppendPinnedBuffers(coded, &pinned);
  return Column::Flat(coded->type(), coded->visible(), std::move(values), nullptr, std::move(pinned));
}

bool ExpandsByCode(Physical physical) {
  return physical == Physical::kBool || physical == Physical::kInt32 || physical == Physical::kInt64 ||
         physical == Physical::kDouble || physical == Physical::kString;
}

ColumnPtr ExpandByType(const Column& coded, const ColumnPtr& table, RowSet rows) {
  switch (table->type().physical()) {
    case Physical::kBool:
      return ExpandCodes<uint8_t>(coded, table, rows);
    case Physical::kInt32:
      return ExpandCodes<int32_t>(coded, table, rows);
    case Physical::kInt64:
      return ExpandCodes<int64_t>(coded, table, rows);
    case Physical::kDouble:
      return ExpandCodes<double>(coded, table, rows);
    default:
      return ExpandCodes<StringView>(coded, table, rows);
  }
}

// A row that failed does not pass, even if COALESCE or the like made a value of it.
void DropFailedRows(const RowErrors& errors, int32_t rows, std::vector<uint16_t>* passed) {
  std::vector<bool> failed(static_cast<size_t>(rows), false);
  for (const RowErrors::Entry& entry : errors.entries()) failed[static_cast<size_t>(entry.row)] = true;
  std::erase_if(*passed, [&failed](uint16_t row) { return failed[row]; });
}

bool IsConstant(const ColumnPtr& column) { return column->encoding() == Encoding::kConstant; }

}  // namespace

void RowErrors::Add(int32_t row, std::string message, SqlPosition position) {
  const size_t at = static_cast<size_t>(row);
  if (at >= failed_.size()) failed_.resize(at + 1, false);
  if (failed_[at]) return;
  failed_[at] = true;
  entries_.push_back({row, std::move(message), std::move(position)});
}

void RowErrors::Locate(size_t first, const SqlPosition& position) {
  for (size_t i = first; i < entries_.size(); ++i) {
    if (!entries_[i].position.known()) entries_[i].position = position;
  }
}

void RowErrors::Truncate(size_t size) {
  for (; entries_.size() > size; entries_.pop_back())
    failed_[static_cast<size_t>(entries_.back().row)] = false;
}

Evaluator::Evaluator(EvaluatorOptions options) : options_(std::move(options)) {
  Result<TimeZone> zone = TimeZone::Find(options_.time_zone);
  if (zone.ok()) zone_ = std::move(zone).value();
}

ColumnPtr Evaluator::Eval(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors) {
  switch (expr.kind) {
    case Expr::Kind::kColumn:
      return chunk.column(expr.column);
    case Expr::Kind::kLiteral:
      return ConstantColumn(expr.type, expr.literal, chunk.physical_rows());
    case Expr::Kind::kCall:
      break;
  }
  if (rows.count == 0) return Column::Null(expr.type, chunk.physical_rows());
  return EvalCall(expr, chunk, rows, errors);
}

ColumnPtr Evaluator::EvalCall(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors) {
  const size_t before = errors.size();
  ColumnPtr result = EvalUnlocated(expr, chunk, rows, errors);
  if (errors.size() > before) errors.Locate(before, expr.position);
  return result;
}

ColumnPtr Evaluator::EvalUnlocated(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors) {
  const ScalarFunction& function = *expr.function;
  std::vector<ColumnPtr> args;
  if (function.lazy) {
    KernelCall call{expr, args, rows, chunk.physical_rows(), errors, *this, chunk};
    return function.kernel(call);
  }
  args.reserve(expr.args.size());
  size_t coded = expr.args.size();  // the one argument that is not constant, if it is coded
  int varying = 0;
  // A row whose argument failed is NULL there; nothing further is reported for it.
  for (const Expr& arg : expr.args) {
    args.push_back(Eval(arg, chunk, rows, errors));
    if (IsConstant(args.back())) continue;
    ++varying;
    if (args.back()->encoding() == Encoding::kDictionary) coded = args.size() - 1;
  }
  if (varying == 0 && function.deterministic) return EvalOnce(expr, args, chunk, rows, errors);
  if (varying == 1 && coded < args.size() && function.deterministic && function.strict &&
      args[coded]->visible() * 2 <= rows.count && ExpandsByCode(expr.type.physical())) {
    return EvalDictionary(expr, args, coded, chunk, rows, errors);
  }
  if (function.strict) return EvalStrict(expr, args, chunk, rows, errors);
  KernelCall call{expr, args, rows, chunk.physical_rows(), errors, *this, chunk};
  return function.kernel(call);
}

// Constant arguments: one row stands for all.
ColumnPtr Evaluator::EvalOnce(const Expr& expr, const std::vector<ColumnPtr>& args, const Chunk& chunk,
                              RowSet rows, RowErrors& errors) {
  if (expr.function->strict) {
    for (const ColumnPtr& arg : args) {
      if (arg->IsNull(0)) return Column::Null(expr.type, chunk.physical_rows());
    }
  }
  std::vector<ColumnPtr> single;
  for (const ColumnPtr& arg : args) single.push_back(ResizeConstant(arg, 1));
  RowErrors failures;
  KernelCall call{expr, single, RowSet{nullptr, 1}, 1, failures, *this, chunk};
  ColumnPtr result = expr.function->kernel(call);
  if (!failures.empty()) {
    for (int32_t i = 0; i < rows.count; ++i)
      errors.Add(rows[i], failures.entries()[0].message, failures.entries()[0].position);
    return Column::Null(expr.type, chunk.physical_rows());
  }
  return Column::Constant(result, chunk.physical_rows());
}

// One argument varies and is dictionary-coded: the function sees each value of the dictionary once.
ColumnPtr Evaluator::EvalDictionary(const Expr& expr, const std::vector<ColumnPtr>& args, size_t coded,
                                    const Chunk& chunk, RowSet rows, RowErrors& errors) {
  const ColumnPtr& codes = args[coded];
  const int32_t values = codes->visible();
  std::vector<ColumnPtr> table_args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i != coded && args[i]->IsNull(0)) return Column::Null(expr.type, chunk.physical_rows());
    table_args.push_back(i == coded ? DictionaryValues(codes) : ResizeConstant(args[i], values));
  }
  RowErrors failures;
  KernelCall call{expr, table_args, RowSet{nullptr, values}, values, failures, *this, chunk};
  const ColumnPtr table = expr.function->kernel(call);
  // An error counts only where a row has the value; then the rows are taken one by one.
  if (!failures.empty()) return EvalStrict(expr, args, chunk, rows, errors);
  return ExpandByType(*codes, table, rows);
}

ColumnPtr Evaluator::EvalStrict(const Expr& expr, const std::vector<ColumnPtr>& args, const Chunk& chunk,
                                RowSet rows, RowErrors& errors) {
  std::vector<uint16_t> valid_rows;
  const bool all_valid = DropNullRows(args, rows, &valid_rows);
  if (!all_valid) {
    if (valid_rows.empty()) return Column::Null(expr.type, chunk.physical_rows());
    rows = {valid_rows.data(), static_cast<int32_t>(valid_rows.size())};
  }
  KernelCall call{expr, args, rows, chunk.physical_rows(), errors, *this, chunk};
  ColumnPtr result = expr.function->kernel(call);
  if (all_valid) return result;
  if (IsConstant(result)) {
    if (result->IsNull(0)) return result;
    result = CopyRows(*result, std::vector<uint16_t>(static_cast<size_t>(chunk.physical_rows())).data(),
                      chunk.physical_rows());
  }
  std::vector<ColumnPtr> both(args.begin(), args.end());
  both.push_back(result);
  return WithValidity(result, IntersectValidity(both, chunk.physical_rows()));
}

void Evaluator::Filter(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors,
                       std::vector<uint16_t>* passed) {
  if (expr.kind == Expr::Kind::kCall && expr.name == "AND") {
    // What the left side does not let through need not be asked again.
    std::vector<uint16_t> left(rows.rows, rows.rows == nullptr ? rows.rows : rows.rows + rows.count);
    bool first = true;
    for (const Expr& arg : expr.args) {
      std::vector<uint16_t> next;
      Filter(arg, chunk, first ? rows : RowSet{left.data(), static_cast<int32_t>(left.size())}, errors,
             &next);
      left.swap(next);
      first = false;
    }
    passed->swap(left);
    return;
  }
  passed->clear();
  if (rows.count == 0) return;
  const ColumnPtr column = Eval(expr, chunk, rows, errors);
  if (IsConstant(column) && (column->IsNull(0) || column->values<uint8_t>()[0] == 0)) return;
  passed->resize(static_cast<size_t>(rows.count));
  uint16_t* to = passed->data();
  const uint8_t* values = column->values<uint8_t>();
  if (IsConstant(column)) {
    ForEachRow(rows, [&](int32_t row) { *to++ = static_cast<uint16_t>(row); });
  } else if (column->may_have_nulls()) {
    ForEachRow(rows, [&](int32_t row) {
      *to = static_cast<uint16_t>(row);
      to += !column->IsNull(row) && values[row] != 0 ? 1 : 0;
    });
  } else {
    ForEachRow(rows, [&](int32_t row) {
      *to = static_cast<uint16_t>(row);
      to += values[row] != 0 ? 1 : 0;
    });
  }
  passed->resize(static_cast<size_t>(to - passed->data()));
  if (!errors.empty()) DropFailedRows(errors, chunk.physical_rows(), passed);
}

Result<Value> EvalConstant(const Expr& expr, const EvaluatorOptions& options) {
  if (expr.kind == Expr::Kind::kLiteral) return expr.literal;
  Evaluator evaluator(options);
  RowErrors errors;
  const ColumnPtr column = evaluator.Eval(expr, Chunk({}, 1), RowSet{nullptr, 1}, errors);
  if (!errors.empty()) return Status::Data(errors.entries()[0].message);
  return ValueAt(*column, 0);
}

namespace {
bool IsFoldable(const Expr& expr) {
  if (expr.kind == Expr::Kind::kColumn) return false;
  if (expr.kind == Expr::Kind::kCall && !expr.function->deterministic) return false;
  for (const Expr& arg : expr.args) {
    if (!IsFoldable(arg)) return false;
  }
  return true;
}
}  // namespace

void FoldConstants(Expr* expr, const EvaluatorOptions& options) {
  if (expr->kind != Expr::Kind::kCall) return;
  if (IsFoldable(*expr)) {
    Result<Value> value = EvalConstant(*expr, options);
    if (value.ok()) {
      const SqlPosition position = expr->position;
      *expr = Expr::Literal(expr->type, std::move(value).value());
      expr->position = position;
      return;
    }
  }
  for (Expr& arg : expr->args) FoldConstants(&arg, options);
}

}  // namespace caudal
