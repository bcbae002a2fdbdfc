// Aggregates over different values: DISTINCT around another aggregate, and APPROX_COUNT_DISTINCT.
#include <cmath>
#include <limits>
#include <new>

#include "data/column_builder.h"
#include "data/sketch/hyper_log_log.h"
#include "expr/aggregates/accumulator.h"
#include "expr/aggregates/bind.h"
#include "expr/aggregates/value_counts.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

// The bytes that stand for a value: two values are the same iff their bytes are. −0.0 is 0.0, NaN is one
// value.
template <typename T>
T Canonical(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
    return value == 0 ? T{0} : value;
  } else {
    return value;
  }
}

// `f(accumulator index, bytes)` for every row that is not NULL.
template <typename F>
void ForEachKey(const Column& column, RowSet rows, F f) {
  if (column.type().physical() == Physical::kString) {
    const ColumnView<StringView> values(column);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (!values.IsNull(rows[i])) f(i, values[rows[i]].view());
    }
    return;
  }
  DispatchFixed(column.type().physical(), [&]<typename T>() {
    const ColumnView<T> values(column);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (values.IsNull(rows[i])) continue;
      const T value = Canonical(values[rows[i]]);
      f(i, std::string_view(reinterpret_cast<const char*>(&value), sizeof(T)));
    }
  });
}

void AppendKeyValue(std::string_view key, ColumnBuilder* out) {
  if (out->type().physical() == Physical::kString) return out->AppendString(key);
  DispatchFixed(out->type().physical(), [&]<typename T>() {
    T value{};
    std::memcpy(&value, key.data(), std::min(sizeof(T), key.size()));
    out->Append(value);
  });
}

// The accumulator: the inner one's, then a pointer to how often each value stands.
class Distinct : public Aggregator {
 public:
  Distinct(std::unique_ptr<Aggregator> inner, Type arg) : inner_(std::move(inner)), arg_(std::move(arg)) {}

  const Type& result_type() const override { return inner_->result_type(); }
  Type accumulator_type() const override {
    return Type::Row({{"inner", inner_->accumulator_type()},
                      {"values", Type::Map(arg_.WithNullable(false), Type(TypeId::kBigInt, false))}});
  }
  int width() const override { return inner_->width() + static_cast<int>(sizeof(ValueCounts*)); }

  void Init(char* accumulator) const override {
    inner_->Init(accumulator);
    std::memset(accumulator + inner_->width(), 0, sizeof(ValueCounts*));
  }
  void Destroy(char* accumulator) const override {
    inner_->Destroy(accumulator);
    delete counts(accumulator);
    std::memset(accumulator + inner_->width(), 0, sizeof(ValueCounts*));
  }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    const Batch fresh = Count(accumulators, *args[0], rows, 1);
    inner_->Add(fresh.accumulators.data(), args, fresh.row_set());
  }
  bool can_retract() const override { return inner_->can_retract(); }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    const Batch gone = Count(accumulators, *args[0], rows, -1);
    inner_->Retract(gone.accumulators.data(), args, gone.row_set());
  }
  void Merge(char* into, const char* from) const override;
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    inner_->Result(accumulators, count, out);
  }
  int64_t ExtraBytes(const char* accumulator) const override {
    const ValueCounts* values = counts(accumulator);
    return inner_->ExtraBytes(accumulator) + (values ? values->bytes() : 0);
  }
  void Encode(const char* accumulator, std::string* out) const override;
  Status Decode(std::string_view* in, char* accumulator) const override;

 private:
  struct Batch {
    std::vector<char*> accumulators;
    std::vector<uint16_t> rows;
    RowSet row_set() const { return {rows.data(), static_cast<int32_t>(rows.size())}; }
  };
  ValueCounts* counts(const char* accumulator) const {
    ValueCounts* pointer = nullptr;
    std::memcpy(&pointer, accumulator + inner_->width(), sizeof(pointer));
    return pointer;
  }
  ValueCounts& make_counts(char* accumulator) const {
    ValueCounts* pointer = counts(accumulator);
    if (pointer == nullptr) {
      pointer = new ValueCounts();
      std::memcpy(accumulator + inner_->width(), &pointer, sizeof(pointer));
    }
    return *pointer;
  }
  // Counts the values and gives the rows at which one appeared (by = 1) or went away (by = -1).
  Batch Count(char* const* accumulators, const Column& column, RowSet rows, int64_t by) const {
    Batch changed;
    ForEachKey(column, rows, [&](int32_t i, std::string_view key) {
      const int64_t count = make_counts(accumulators[i]).Add(key, by);
      if (count != (by > 0 ? 1 : 0)) return;
      changed.accumulators.push_back(accumulators[i]);
      changed.rows.push_back(static_cast<uint16_t>(rows[i]));
    });
    return changed;
  }

  std::unique_ptr<Aggregator> inner_;
  Type arg_;
};

void Distinct::Merge(char* into, const char* from) const {
  const ValueCounts* other = counts(from);
  if (other == nullptr) return;
  ValueCounts& values = make_counts(into);
  ColumnBuilder fresh(arg_);
  ColumnBuilder gone(arg_);
  const bool copies = values.size() == 0;
  if (copies) values = *other;
  other->ForEach([&](std::string_view key, int64_t count) {
    const int64_t now = copies ? count : values.Add(key, count);
    const int64_t before = now - count;
    if (before <= 0 && now > 0) AppendKeyValue(key, &fresh);
    if (before > 0 && now <= 0) AppendKeyValue(key, &gone);
  });
  for (ColumnBuilder* side : {&fresh, &gone}) {
    const int32_t rows = side->size();
    if (rows == 0) continue;
    const ColumnPtr column = side->Finish();
    const std::vector<char*> targets(static_cast<size_t>(rows), into);
    const std::span<const ColumnPtr> args(&column, 1);
    if (side == &fresh) {
      inner_->Add(targets.data(), args, RowSet{nullptr, rows});
    } else {
      inner_->Retract(targets.data(), args, RowSet{nullptr, rows});
    }
  }
}

void Distinct::Encode(const char* accumulator, std::string* out) const {
  inner_->Encode(accumulator, out);
  const ValueCounts* values = counts(accumulator);
  AppendFixed(static_cast<uint32_t>(values ? values->size() : 0), out);
  if (values == nullptr) return;
  values->ForEach([&](std::string_view key, int64_t count) {
    AppendBytes(key, out);
    AppendFixed(count, out);
  });
}

Status Distinct::Decode(std::string_view* in, char* accumulator) const {
  RETURN_IF_ERROR(inner_->Decode(in, accumulator));
  uint32_t size = 0;
  if (!TakeFixed(in, &size)) return DamagedAccumulator();
  for (uint32_t i = 0; i < size; ++i) {
    std::string_view key;
    int64_t count = 0;
    if (!TakeBytes(in, &key) || !TakeFixed(in, &count)) return DamagedAccumulator();
    if (count == 0) return DamagedAccumulator();
    make_counts(accumulator).Add(key, count);
  }
  return Status();
}

// The accumulator is the sketch itself, so that one of few values takes no memory of its own.
class ApproxCountDistinct : public Aggregator {
 public:
  const Type& result_type() const override { return result_; }
  Type accumulator_type() const override { return Type::Row({{"state", Type::Bytes()}}); }
  int width() const override { return sizeof(HyperLogLog); }
  void Init(char* accumulator) const override { new (accumulator) HyperLogLog(); }
  void Destroy(char* accumulator) const override {
    sketch(accumulator).~HyperLogLog();
    Init(accumulator);
  }

  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    // In blocks: each sketch, then what hangs from it, is on its way while others are hashed.
    Pending pending[kBlock];
    size_t count = 0;
    ForEachKey(*args[0], rows, [&](int32_t i, std::string_view key) {
      HyperLogLog* to = &sketch(accumulators[i]);
      __builtin_prefetch(to);
      __builtin_prefetch(reinterpret_cast<const char*>(to) + sizeof(HyperLogLog) - 1, 1);
      pending[count] = {to, HyperLogLog::Hash(key.data(), key.size())};
      if (++count < kBlock) return;
      AddPending({pending, count});
      count = 0;
    });
    AddPending({pending, count});
  }
  bool can_retract() const override { return false; }
  void Merge(char* into, const char* from) const override { sketch(into).Merge(sketch(from)); }
  void Assign(char* into, const char* from) const override { sketch(into).Assign(sketch(from)); }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) out->Append(sketch(accumulators[i]).Estimate());
  }
  int64_t ExtraBytes(const char* accumulator) const override {
    return static_cast<int64_t>(sketch(accumulator).bytes());
  }
  void Encode(const char* accumulator, std::string* out) const override {
    sketch(accumulator).Serialize(out);
  }
  Status Decode(std::string_view* in, char* accumulator) const override {
    return sketch(accumulator).Deserialize(in) ? Status() : DamagedAccumulator();
  }

 private:
  static constexpr size_t kBlock = 32;
  struct Pending {
    HyperLogLog* sketch;
    uint64_t hash;
  };
  static HyperLogLog& sketch(char* accumulator) { return *reinterpret_cast<HyperLogLog*>(accumulator); }
  static const HyperLogLog& sketch(const char* accumulator) {
    return *reinterpret_cast<const HyperLogLog*>(accumulator);
  }
  static void AddPending(std::span<const Pending> all) {
    for (const Pending& pending : all) pending.sketch->Prefetch();
    for (const Pending& pending : all) pending.sketch->Add(pending.hash);
  }

  Type result_ = Type(TypeId::kBigInt, false);
};

Status CheckPlainValue(const Type& type) {
  if (type.children().empty() && type.id() != TypeId::kNull) return Status();
  return WrongArgument(0, type, "a value without parts");
}

}  // namespace

BoundAggregate MakeDistinct(std::unique_ptr<Aggregator> inner, const Type& arg) {
  RETURN_IF_ERROR(CheckPlainValue(arg));
  return std::unique_ptr<Aggregator>(std::make_unique<Distinct>(std::move(inner), arg));
}

BoundAggregate BindApproxCountDistinct(AggregateArgs args, bool, bool retracting) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  RETURN_IF_ERROR(CheckPlainValue(args[0]));
  if (retracting) {
    return Status::User("APPROX_COUNT_DISTINCT cannot take rows away again")
        .Hint("use COUNT(DISTINCT …), or aggregate an insert-only input");
  }
  return std::unique_ptr<Aggregator>(std::make_unique<ApproxCountDistinct>());
}

}  // namespace caudal
