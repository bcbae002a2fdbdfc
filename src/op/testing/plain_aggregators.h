// Hand-made aggregators, so that operators are tested without the functions of expr/. For tests alone.
#pragma once

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/plan_node.h"
#include "data/column_view.h"
#include "expr/aggregate_function.h"

namespace caudal {

// COUNT(*), or COUNT(x) and SUM(x) of a BIGINT.
class CountAndSum : public Aggregator {
 public:
  enum class What { kCount, kSum };
  explicit CountAndSum(What what) : what_(what), type_(Type(TypeId::kBigInt)) {}

  const Type& result_type() const override { return type_; }
  Type accumulator_type() const override { return Type::Row({{"n", type_}, {"sum", type_}}); }
  int width() const override { return sizeof(State); }
  void Init(char* at) const override { Put(at, {0, 0}); }
  bool can_retract() const override { return true; }
  void Add(char* const* at, std::span<const ColumnPtr> args, RowSet rows) const override {
    Change(at, args, rows, 1);
  }
  void Retract(char* const* at, std::span<const ColumnPtr> args, RowSet rows) const override {
    Change(at, args, rows, -1);
  }
  void Merge(char* into, const char* from) const override {
    const State a = Get(into), b = Get(from);
    Put(into, {a.n + b.n, a.sum + b.sum});
  }
  void Result(const char* const* at, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) {
      const State state = Get(at[i]);
      if (what_ == What::kSum && state.n == 0) {
        out->AppendNull();
      } else {
        out->Append(what_ == What::kCount ? state.n : state.sum);
      }
    }
  }
  void Encode(const char* at, std::string* out) const override { out->append(at, sizeof(State)); }
  Status Decode(std::string_view* in, char* at) const override {
    std::memcpy(at, in->data(), sizeof(State));
    in->remove_prefix(sizeof(State));
    return Status();
  }

 private:
  struct State {
    int64_t n;
    int64_t sum;
  };
  static State Get(const char* at) { return *reinterpret_cast<const State*>(at); }
  static void Put(char* at, State state) { std::memcpy(at, &state, sizeof(state)); }
  static void Change(char* const* at, std::span<const ColumnPtr> args, RowSet rows, int64_t sign) {
    for (int32_t i = 0; i < rows.count; ++i) {
      State state = Get(at[i]);
      if (!args.empty() && args[0]->IsNull(rows[i])) continue;
      state.n += sign;
      if (!args.empty()) state.sum += sign * ColumnView<int64_t>(*args[0])[rows[i]];
      Put(at[i], state);
    }
  }

  What what_;
  Type type_;
};

// The number of different strings: hangs a set from the accumulator; cannot take away.
class StringSet : public Aggregator {
 public:
  const Type& result_type() const override { return type_; }
  Type accumulator_type() const override { return Type::Bytes(); }
  int width() const override { return sizeof(Set*); }
  void Init(char* at) const override { Put(at, new Set()); }
  void Destroy(char* at) const override { delete Get(at); }
  bool can_retract() const override { return false; }
  void Retract(char* const*, std::span<const ColumnPtr>, RowSet) const override {}
  void Add(char* const* at, std::span<const ColumnPtr> args, RowSet rows) const override {
    for (int32_t i = 0; i < rows.count; ++i) {
      if (args[0]->IsNull(rows[i])) continue;
      Get(at[i])->insert(ColumnView<StringView>(*args[0])[rows[i]].ToString());
    }
  }
  void Merge(char* into, const char* from) const override {
    Get(into)->insert(Get(from)->begin(), Get(from)->end());
  }
  void Result(const char* const* at, int32_t count, ColumnBuilder* out) const override {
    for (int32_t i = 0; i < count; ++i) out->Append(static_cast<int64_t>(Get(at[i])->size()));
  }
  int64_t ExtraBytes(const char* at) const override { return static_cast<int64_t>(Get(at)->size() * 64); }
  void Encode(const char* at, std::string* out) const override {
    for (const std::string& text : *Get(at)) out->append(text).push_back('\0');
    out->push_back('\1');
  }
  Status Decode(std::string_view* in, char* at) const override {
    while (in->front() != '\1') {
      const size_t end = in->find('\0');
      Get(at)->emplace(in->substr(0, end));
      in->remove_prefix(end + 1);
    }
    in->remove_prefix(1);
    return Status();
  }

 private:
  using Set = std::set<std::string, std::less<>>;
  static Set* Get(const char* at) { return *reinterpret_cast<Set* const*>(at); }
  static void Put(char* at, Set* set) { std::memcpy(at, &set, sizeof(set)); }
  Type type_ = Type(TypeId::kBigInt);
};

// "count", "sum" or "set" of a column; -1: no argument.
struct PlainCall {
  std::string name;
  int column = -1;
  int filter = -1;
};

inline std::pair<std::vector<AggregateCall>, std::vector<std::unique_ptr<Aggregator>>> PlainAggregators(
    const std::vector<PlainCall>& wanted) {
  std::vector<AggregateCall> calls;
  std::vector<std::unique_ptr<Aggregator>> aggregators;
  for (const PlainCall& want : wanted) {
    AggregateCall call;
    call.name = want.name;
    if (want.column >= 0) call.args.push_back(want.column);
    call.filter = want.filter;
    call.result = Type(TypeId::kBigInt);
    calls.push_back(call);
    using What = CountAndSum::What;
    std::unique_ptr<Aggregator> plain = std::make_unique<StringSet>();
    if (want.name != "set")
      plain = std::make_unique<CountAndSum>(want.name == "sum" ? What::kSum : What::kCount);
    aggregators.push_back(std::move(plain));
  }
  return {std::move(calls), std::move(aggregators)};
}

}  // namespace caudal
