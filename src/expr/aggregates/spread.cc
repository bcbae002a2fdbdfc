// VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP (Welford's method, which does not lose digits) and LISTAGG.
#include <algorithm>
#include <cmath>
#include <vector>

#include "data/text/number_text.h"
#include "expr/aggregates/accumulator.h"
#include "expr/aggregates/bind.h"
#include "expr/integer_of_double.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

struct Moments {
  int64_t count;
  double mean;
  double squares;  // sum of (value - mean)²

  void Add(double value) {
    ++count;
    const double delta = value - mean;
    mean += delta / static_cast<double>(count);
    squares += delta * (value - mean);
  }
  void Remove(double value) {
    if (--count == 0) {
      *this = {};
      return;
    }
    const double before = mean;
    mean -= (value - mean) / static_cast<double>(count);
    squares = std::max(0.0, squares - (value - mean) * (value - before));
  }
  void Merge(const Moments& other) {
    if (other.count == 0) return;
    const double total = static_cast<double>(count + other.count);
    const double delta = other.mean - mean;
    squares +=
        other.squares + delta * delta * static_cast<double>(count) * static_cast<double>(other.count) / total;
    mean += delta * static_cast<double>(other.count) / total;
    count += other.count;
  }
};

class Spread : public PlainAggregator<Moments> {
 public:
  Spread(Type arg, Type result, bool sample, bool root)
      : PlainAggregator(std::move(result)), arg_(std::move(arg)), sample_(sample), root_(root) {}

  Type accumulator_type() const override {
    return Type::Row({{"count", Type(TypeId::kBigInt, false)},
                      {"mean", Type(TypeId::kDouble)},
                      {"squares", Type(TypeId::kDouble)}});
  }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachNumber(accumulators, *args[0], rows, [](Moments& moments, double value) { moments.Add(value); });
  }
  bool can_retract() const override { return true; }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachNumber(accumulators, *args[0], rows,
                  [](Moments& moments, double value) { moments.Remove(value); });
  }
  void Merge(char* into, const char* from) const override { state(into).Merge(state(from)); }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const Moments& moments = state(accumulators[i]);
      const int64_t divisor = moments.count - (sample_ ? 1 : 0);
      if (divisor <= 0) {
        out->AppendNull();
        continue;
      }
      const double variance = moments.squares / static_cast<double>(divisor);
      AppendNumber(root_ ? std::sqrt(variance) : variance, out);
    }
  }

 private:
  template <typename F>
  void ForEachNumber(char* const* accumulators, const Column& column, RowSet rows, F f) const {
    DispatchFixed(column.type().physical(), [&]<typename T>() {
      ForEachValue<T>(accumulators, column, rows, [&](char* accumulator, const T& value) {
        const bool decimal = arg_.id() == TypeId::kDecimal;
        f(state(accumulator),
          decimal ? DecimalToDouble(static_cast<int128_t>(value), arg_.scale()) : static_cast<double>(value));
      });
    });
  }
  void AppendNumber(double value, ColumnBuilder* out) const {
    switch (result_.id()) {
      case TypeId::kTinyInt:
        return out->Append(IntegerOfDouble<int8_t>(value));
      case TypeId::kSmallInt:
        return out->Append(IntegerOfDouble<int16_t>(value));
      case TypeId::kInt:
        return out->Append(IntegerOfDouble<int32_t>(value));
      case TypeId::kBigInt:
        return out->Append(IntegerOfDouble<int64_t>(value));
      case TypeId::kFloat:
        return out->Append(static_cast<float>(value));
      case TypeId::kDouble:
        return out->Append(value);
      default:
        break;
    }
    int128_t decimal = 0;
    if (!DoubleToDecimal(value, result_.precision(), result_.scale(), &decimal)) return out->AppendNull();
    out->Append(decimal);
  }

  Type arg_;
  bool sample_;
  bool root_;
};

BoundAggregate BindSpread(AggregateArgs args, bool distinct, bool sample, bool root) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  if (!args[0].is_numeric()) return WrongArgument(0, args[0], "a number");
  auto spread = std::make_unique<Spread>(args[0], AverageType(args[0]), sample, root);
  if (distinct) return MakeDistinct(std::move(spread), args[0]);
  return std::unique_ptr<Aggregator>(std::move(spread));
}

// Texts in the order in which they came. Only a list that takes texts away keeps them apart.
struct TextList {
  std::vector<std::string> texts;  // one when nothing is ever taken away
  std::string separator;
};

class ListAgg : public OwningAggregator<TextList> {
 public:
  explicit ListAgg(bool retracting) : OwningAggregator(Type::String()), retracting_(retracting) {}

  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    const ColumnView<StringView> values(*args[0]);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (values.IsNull(rows[i])) continue;
      TextList& list = make(accumulators[i]);
      list.separator = SeparatorOf(args, rows[i]);
      Append(&list, values[rows[i]].view());
    }
  }
  bool can_retract() const override { return retracting_; }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    const ColumnView<StringView> values(*args[0]);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (values.IsNull(rows[i])) continue;
      std::vector<std::string>& texts = make(accumulators[i]).texts;
      const auto at = std::find(texts.begin(), texts.end(), values[rows[i]].view());
      if (at != texts.end()) texts.erase(at);
    }
  }
  void Merge(char* into, const char* from) const override {
    const TextList* other = body(from);
    if (other == nullptr) return;
    TextList& list = make(into);
    list.separator = other->separator;
    for (const std::string& text : other->texts) Append(&list, text);
  }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const TextList* list = body(accumulators[i]);
      if (list == nullptr || list->texts.empty()) {
        out->AppendNull();
        continue;
      }
      std::string joined = list->texts[0];
      for (size_t t = 1; t < list->texts.size(); ++t) joined += list->separator + list->texts[t];
      out->AppendString(joined);
    }
  }
  int64_t ExtraBytes(const char* accumulator) const override {
    const TextList* list = body(accumulator);
    if (list == nullptr) return 0;
    int64_t bytes = sizeof(TextList);
    for (const std::string& text : list->texts) bytes += static_cast<int64_t>(sizeof(text) + text.capacity());
    return bytes;
  }
  void Encode(const char* accumulator, std::string* out) const override {
    const TextList* list = body(accumulator);
    AppendFixed(static_cast<uint32_t>(list == nullptr ? 0 : list->texts.size()), out);
    if (list == nullptr || list->texts.empty()) return;
    AppendBytes(list->separator, out);
    for (const std::string& text : list->texts) AppendBytes(text, out);
  }
  Status Decode(std::string_view* in, char* accumulator) const override {
    uint32_t size = 0;
    std::string_view text;
    if (!TakeFixed(in, &size)) return DamagedAccumulator();
    if (size == 0) return Status();
    if (!TakeBytes(in, &text)) return DamagedAccumulator();
    make(accumulator).separator = text;
    for (uint32_t i = 0; i < size; ++i) {
      if (!TakeBytes(in, &text)) return DamagedAccumulator();
      make(accumulator).texts.emplace_back(text);
    }
    return Status();
  }

 private:
  static std::string_view SeparatorOf(std::span<const ColumnPtr> args, int32_t row) {
    if (args.size() < 2) return ",";
    const StringView* views =
        args[1]->encoding() == Encoding::kDictionary ? nullptr : args[1]->values<StringView>();
    if (views == nullptr || args[1]->IsNull(row)) return ",";
    return views[args[1]->encoding() == Encoding::kConstant ? 0 : row].view();
  }
  void Append(TextList* list, std::string_view text) const {
    if (retracting_ || list->texts.empty()) {
      list->texts.emplace_back(text);
    } else {
      list->texts[0] += list->separator;
      list->texts[0] += text;
    }
  }

  bool retracting_;
};

}  // namespace

BoundAggregate BindVarPop(AggregateArgs args, bool distinct, bool) {
  return BindSpread(args, distinct, false, false);
}
BoundAggregate BindVarSamp(AggregateArgs args, bool distinct, bool) {
  return BindSpread(args, distinct, true, false);
}
BoundAggregate BindStddevPop(AggregateArgs args, bool distinct, bool) {
  return BindSpread(args, distinct, false, true);
}
BoundAggregate BindStddevSamp(AggregateArgs args, bool distinct, bool) {
  return BindSpread(args, distinct, true, true);
}

BoundAggregate BindListAgg(AggregateArgs args, bool distinct, bool retracting) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 2));
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_string()) return WrongArgument(i, args[i], "a string");
  }
  if (distinct && args.size() == 2) return Status::User("LISTAGG(DISTINCT …) with a separator is not built");
  std::unique_ptr<Aggregator> list = std::make_unique<ListAgg>(retracting);
  if (distinct) return MakeDistinct(std::move(list), args[0]);
  return list;
}

}  // namespace caudal
