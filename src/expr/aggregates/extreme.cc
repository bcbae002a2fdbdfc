// MIN, MAX, FIRST_VALUE, LAST_VALUE: aggregates whose result is one of the values.
#include <cmath>
#include <map>
#include <string>

#include "expr/aggregates/accumulator.h"
#include "expr/aggregates/bind.h"
#include "expr/physical_dispatch.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

enum class Pick { kMin, kMax, kFirst, kLast };

// Java's order of numbers: NaN is the largest.
template <typename T>
bool OrderedBefore(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

// Whether `value` replaces `kept`.
template <Pick kPick, typename T>
bool Replaces(const T& value, const T& kept) {
  if constexpr (kPick == Pick::kMin) return OrderedBefore(value, kept);
  if constexpr (kPick == Pick::kMax) return OrderedBefore(kept, value);
  return kPick == Pick::kLast;
}

Type ValueState(const Type& type) { return Type::Row({{"value", type.WithNullable(true)}}); }

template <typename T>
struct Slot {
  T value;
  int64_t present;
};
template <>
struct Slot<int128_t> {
  Int128At8 value;
  int64_t present;
};

// Of values of fixed width, added only.
template <typename T, Pick kPick>
class FixedPick : public PlainAggregator<Slot<T>> {
 public:
  explicit FixedPick(const Type& type) : PlainAggregator<Slot<T>>(type.WithNullable(true)) {}

  Type accumulator_type() const override { return ValueState(this->result_); }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<T>(accumulators, *args[0], rows,
                    [this](char* accumulator, const T& value) { Keep(this->state(accumulator), value); });
  }
  bool can_retract() const override { return false; }
  void Merge(char* into, const char* from) const override {
    const Slot<T>& other = this->state(from);
    if (other.present != 0) Keep(this->state(into), other.value);
  }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const Slot<T>& slot = this->state(accumulators[i]);
      if (slot.present == 0) {
        out->AppendNull();
      } else {
        out->Append(static_cast<T>(slot.value));
      }
    }
  }

 private:
  static void Keep(Slot<T>& slot, T value) {
    const T kept = slot.value;
    if (slot.present != 0 && !Replaces<kPick, T>(value, kept)) return;
    slot.value = value;
    slot.present = 1;
  }
};

// Of strings, added only.
template <Pick kPick>
class StringPick : public OwningAggregator<std::string> {
 public:
  explicit StringPick(const Type& type) : OwningAggregator(type.WithNullable(true)) {}

  Type accumulator_type() const override { return ValueState(result_); }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<StringView>(accumulators, *args[0], rows, [](char* accumulator, const StringView& value) {
      Keep(accumulator, value.view());
    });
  }
  bool can_retract() const override { return false; }
  void Merge(char* into, const char* from) const override {
    if (body(from) != nullptr) Keep(into, *body(from));
  }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const std::string* value = body(accumulators[i]);
      if (value == nullptr) {
        out->AppendNull();
      } else {
        out->AppendString(*value);
      }
    }
  }
  int64_t ExtraBytes(const char* accumulator) const override {
    const std::string* value = body(accumulator);
    return value == nullptr ? 0 : static_cast<int64_t>(sizeof(std::string) + value->capacity());
  }
  void Encode(const char* accumulator, std::string* out) const override {
    AppendFixed(static_cast<uint8_t>(body(accumulator) != nullptr), out);
    if (body(accumulator) != nullptr) AppendBytes(*body(accumulator), out);
  }
  Status Decode(std::string_view* in, char* accumulator) const override {
    uint8_t present = 0;
    std::string_view value;
    if (!TakeFixed(in, &present)) return DamagedAccumulator();
    if (present == 0) return Status();
    if (!TakeBytes(in, &value)) return DamagedAccumulator();
    make(accumulator) = value;
    return Status();
  }

 private:
  static void Keep(char* accumulator, std::string_view value) {
    const std::string* kept = body(accumulator);
    if (kept != nullptr && !Replaces<kPick, std::string_view>(value, *kept)) return;
    make(accumulator) = value;
  }
};

// MIN and MAX of an input that takes rows away: how often each value stands, in order.
template <typename T>
struct Before {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    if constexpr (std::is_same_v<T, std::string>) return std::string_view(a) < std::string_view(b);
    return OrderedBefore<T>(a, b);
  }
};
template <>
struct Before<std::string> {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a < b; }
};

template <typename T>
using Multiset = std::map<T, int64_t, Before<T>>;

// `T`: how a value is kept; `V`: how a column holds it.
template <typename T, typename V, bool kMax>
class RetractingExtreme : public OwningAggregator<Multiset<T>> {
  using Base = OwningAggregator<Multiset<T>>;

 public:
  explicit RetractingExtreme(const Type& type) : Base(type.WithNullable(true)) {}

  Type accumulator_type() const override {
    return Type::Row(
        {{"values", Type::Map(this->result_.WithNullable(false), Type(TypeId::kBigInt, false))}});
  }
  void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<V>(accumulators, *args[0], rows,
                    [](char* accumulator, const V& value) { Move(Base::make(accumulator), value, 1); });
  }
  bool can_retract() const override { return true; }
  void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const override {
    ForEachValue<V>(accumulators, *args[0], rows,
                    [](char* accumulator, const V& value) { Move(Base::make(accumulator), value, -1); });
  }
  void Merge(char* into, const char* from) const override {
    if (Base::body(from) == nullptr) return;
    Multiset<T>& values = Base::make(into);
    for (const auto& [value, count] : *Base::body(from)) {
      if ((values[value] += count) == 0) values.erase(value);
    }
  }
  void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) Append(Extreme(Base::body(accumulators[i])), out);
  }
  int64_t ExtraBytes(const char* accumulator) const override {
    constexpr int64_t kNodeBytes = 80;
    const Multiset<T>* values = Base::body(accumulator);
    return values == nullptr ? 0 : static_cast<int64_t>(values->size()) * kNodeBytes;
  }
  void Encode(const char* accumulator, std::string* out) const override {
    const Multiset<T>* values = Base::body(accumulator);
    AppendFixed(static_cast<uint32_t>(values == nullptr ? 0 : values->size()), out);
    if (values == nullptr) return;
    for (const auto& [value, count] : *values) {
      if constexpr (std::is_same_v<T, std::string>) {
        AppendBytes(value, out);
      } else {
        AppendFixed(value, out);
      }
      AppendFixed(count, out);
    }
  }
  Status Decode(std::string_view* in, char* accumulator) const override {
    uint32_t size = 0;
    if (!TakeFixed(in, &size)) return DamagedAccumulator();
    for (uint32_t i = 0; i < size; ++i) {
      T value{};
      int64_t count = 0;
      if (!TakeValue(in, &value) || !TakeFixed(in, &count)) return DamagedAccumulator();
      Base::make(accumulator)[value] = count;
    }
    return Status();
  }

 private:
  static bool TakeValue(std::string_view* in, T* value) {
    if constexpr (std::is_same_v<T, std::string>) {
      std::string_view bytes;
      if (!TakeBytes(in, &bytes)) return false;
      *value = bytes;
      return true;
    } else {
      return TakeFixed(in, value);
    }
  }
  static void Move(Multiset<T>& values, const V& value, int64_t by) {
    typename Multiset<T>::iterator at;
    if constexpr (std::is_same_v<T, std::string>) {
      at = values.find(value.view());
      if (at == values.end()) at = values.emplace(value.ToString(), 0).first;
    } else {
      at = values.emplace(value, 0).first;
    }
    if ((at->second += by) == 0) values.erase(at);
  }
  // A value taken away before it came has a count below zero and does not stand.
  static const T* Extreme(const Multiset<T>* values) {
    if (values == nullptr) return nullptr;
    if (kMax) {
      for (auto at = values->rbegin(); at != values->rend(); ++at) {
        if (at->second > 0) return &at->first;
      }
    } else {
      for (auto at = values->begin(); at != values->end(); ++at) {
        if (at->second > 0) return &at->first;
      }
    }
    return nullptr;
  }
  static void Append(const T* value, ColumnBuilder* out) {
    if (value == nullptr) return out->AppendNull();
    if constexpr (std::is_same_v<T, std::string>) {
      out->AppendString(*value);
    } else {
      out->Append(*value);
    }
  }
};

template <Pick kPick>
BoundAggregate BindPick(AggregateArgs args, bool retracting, std::string_view name) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  const Type& type = args[0];
  constexpr bool kExtreme = kPick == Pick::kMin || kPick == Pick::kMax;
  if (!type.children().empty() || type.id() == TypeId::kNull) {
    return WrongArgument(0, type, "a value without parts");
  }
  const bool text = type.physical() == Physical::kString;
  if (retracting) {
    if constexpr (kExtreme) {
      constexpr bool kMax = kPick == Pick::kMax;
      if (text) {
        return std::unique_ptr<Aggregator>(
            std::make_unique<RetractingExtreme<std::string, StringView, kMax>>(type));
      }
      return DispatchFixed(type.physical(), [&]<typename T>() -> std::unique_ptr<Aggregator> {
        return std::make_unique<RetractingExtreme<T, T, kMax>>(type);
      });
    }
    return Status::User(std::string(name) + " over an input that takes rows away is not built")
        .Hint("aggregate an insert-only input, or use MIN or MAX");
  }
  if (text) return std::unique_ptr<Aggregator>(std::make_unique<StringPick<kPick>>(type));
  return DispatchFixed(type.physical(), [&]<typename T>() -> std::unique_ptr<Aggregator> {
    return std::make_unique<FixedPick<T, kPick>>(type);
  });
}

}  // namespace

// DISTINCT changes nothing for these.
BoundAggregate BindMin(AggregateArgs args, bool, bool retracting) {
  return BindPick<Pick::kMin>(args, retracting, "MIN");
}
BoundAggregate BindMax(AggregateArgs args, bool, bool retracting) {
  return BindPick<Pick::kMax>(args, retracting, "MAX");
}
BoundAggregate BindFirstValue(AggregateArgs args, bool, bool retracting) {
  return BindPick<Pick::kFirst>(args, retracting, "FIRST_VALUE");
}
BoundAggregate BindLastValue(AggregateArgs args, bool, bool retracting) {
  return BindPick<Pick::kLast>(args, retracting, "LAST_VALUE");
}

}  // namespace caudal
