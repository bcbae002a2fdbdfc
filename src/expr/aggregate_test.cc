#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "data/text/number_text.h"
#include "expr/aggregate_function.h"
#include "expr/evaluator.h"
#include "expr/scalar_function.h"

namespace caudal {
namespace {

// One accumulator in memory of its own.
class Accumulated {
 public:
  Accumulated(std::string_view name, std::vector<Type> args, bool distinct = false, bool retracting = false) {
    auto bound = FindAggregateFunction(name)->bind(args, distinct, retracting);
    EXPECT_TRUE(bound.ok()) << bound.status().ToString();
    aggregator_ = std::move(bound).value();
    bytes_ = static_cast<char*>(std::malloc(static_cast<size_t>(aggregator_->width())));
    aggregator_->Init(bytes_);
  }
  ~Accumulated() {
    aggregator_->Destroy(bytes_);
    std::free(bytes_);
  }
  Accumulated& Add(const ColumnPtr& column) { return Move(column, true); }
  Accumulated& Retract(const ColumnPtr& column) { return Move(column, false); }
  Accumulated& Merge(const Accumulated& other) {
    aggregator_->Merge(bytes_, other.bytes_);
    return *this;
  }
  // Through the bytes of a snapshot and back.
  Accumulated& Restore() {
    std::string saved;
    aggregator_->Encode(bytes_, &saved);
    for (size_t cut = 0; cut < saved.size(); cut += 5) {
      std::string_view part = std::string_view(saved).substr(0, cut);
      char* damaged = static_cast<char*>(std::malloc(static_cast<size_t>(aggregator_->width())));
      aggregator_->Init(damaged);
      EXPECT_FALSE(aggregator_->Decode(&part, damaged).ok());
      aggregator_->Destroy(damaged);
      std::free(damaged);
    }
    aggregator_->Destroy(bytes_);
    aggregator_->Init(bytes_);
    std::string_view in = saved;
    EXPECT_TRUE(aggregator_->Decode(&in, bytes_).ok());
    EXPECT_TRUE(in.empty());
    return *this;
  }
  std::string Result() {
    ColumnBuilder out(aggregator_->result_type());
    const char* const accumulator = bytes_;
    aggregator_->Result(&accumulator, 1, &out);
    const ColumnPtr column = out.Finish();
    return Expr::Literal(column->type(), ValueAt(*column, 0)).ToString();
  }
  const Aggregator& aggregator() const { return *aggregator_; }

 private:
  Accumulated& Move(const ColumnPtr& column, bool add) {
    const std::vector<char*> targets(static_cast<size_t>(column->size()), bytes_);
    const std::span<const ColumnPtr> args(&column, 1);
    if (add) {
      aggregator_->Add(targets.data(), args, RowSet{nullptr, column->size()});
    } else {
      aggregator_->Retract(targets.data(), args, RowSet{nullptr, column->size()});
    }
    return *this;
  }

  std::unique_ptr<Aggregator> aggregator_;
  char* bytes_ = nullptr;
};

// Values by CAST from text; "NULL" is NULL.
ColumnPtr Values(const Type& type, const std::vector<std::string>& texts) {
  ColumnBuilder builder(type);
  for (const std::string& text : texts) {
    if (text == "NULL") {
      builder.AppendNull();
      continue;
    }
    Result<Expr> cast = BindCast(Expr::Literal(Type::String(), Value(text)), type);
    builder.AppendValue(EvalConstant(*cast).value());
  }
  return builder.Finish();
}

const Type kInt = Type(TypeId::kInt);

TEST(Aggregate, CountsAndSums) {
  const ColumnPtr ints = Values(kInt, {"1", "NULL", "2147483647"});
  EXPECT_EQ(Accumulated("COUNT", {kInt}).Add(ints).Restore().Result(), "2");
  EXPECT_EQ(Accumulated("COUNT", {}).Add(ints).Result(), "3");
  EXPECT_EQ(Accumulated("SUM", {kInt}).Add(ints).Restore().Result(), "-2147483648");
  EXPECT_EQ(Accumulated("SUM", {kInt}).Result(), "NULL");
  EXPECT_EQ(Accumulated("SUM", {kInt}).Add(ints).Retract(ints).Result(), "NULL");
  EXPECT_EQ(Accumulated("AVG", {kInt}).Add(Values(kInt, {"-1", "-2"})).Result(), "-1");
  EXPECT_EQ(Accumulated("SUM", {kInt}, true).Add(Values(kInt, {"5", "5", "NULL", "7"})).Restore().Result(),
            "12");
}

TEST(Aggregate, DecimalsHaveFlinksTypes) {
  const Type type = Type::Decimal(10, 2);
  const ColumnPtr values = Values(type, {"1.00", "1.01", "NULL", "0.00"});
  Accumulated sum("SUM", {type});
  EXPECT_EQ(sum.aggregator().result_type().ToString(), "DECIMAL(38, 2)");
  EXPECT_EQ(sum.Add(values).Result(), "2.01");
  Accumulated average("AVG", {type});
  EXPECT_EQ(average.aggregator().result_type().ToString(), "DECIMAL(38, 6)");
  EXPECT_EQ(average.Add(values).Restore().Result(), "0.670000");
  const Type wide = Type::Decimal(38, 0);
  const ColumnPtr large = Values(wide, {"99999999999999999999999999999999999999", "1"});
  EXPECT_EQ(Accumulated("SUM", {wide}).Add(large).Result(), "NULL");
}

TEST(Aggregate, ExtremesKeepTheirValuesWhenRowsGoAway) {
  const ColumnPtr values = Values(kInt, {"5", "9", "9", "1", "NULL"});
  for (const bool retracting : {false, true}) {
    EXPECT_EQ(Accumulated("MIN", {kInt}, false, retracting).Add(values).Restore().Result(), "1");
    EXPECT_EQ(Accumulated("MAX", {kInt}, false, retracting).Add(values).Restore().Result(), "9");
  }
  Accumulated max("MAX", {kInt}, false, true);
  EXPECT_EQ(max.Add(values).Retract(Values(kInt, {"9"})).Result(), "9");
  EXPECT_EQ(max.Retract(Values(kInt, {"9"})).Restore().Result(), "5");
  const ColumnPtr texts = Values(Type::String(), {"b", "a rather long text", "NULL", "é"});
  EXPECT_EQ(Accumulated("MIN", {Type::String()}).Add(texts).Restore().Result(), "'a rather long text'");
  EXPECT_EQ(Accumulated("MAX", {Type::String()}, false, true).Add(texts).Restore().Result(), "'é'");
  EXPECT_EQ(Accumulated("FIRST_VALUE", {Type::String()}).Add(texts).Result(), "'b'");
  EXPECT_EQ(Accumulated("LAST_VALUE", {kInt}).Add(values).Restore().Result(), "1");
  EXPECT_EQ(Accumulated("LISTAGG", {Type::String()}).Add(texts).Restore().Result(),
            "'b,a rather long text,é'");
  const std::vector<Type> args = {kInt};
  EXPECT_FALSE(FindAggregateFunction("FIRST_VALUE")->bind(args, false, true).ok());
}

TEST(Aggregate, DistinctIgnoresNullAndKnowsTheEmptyString) {
  const Type text = Type::String();
  const ColumnPtr values = Values(text, {"NULL", "NULL", "", "a", "a"});
  EXPECT_EQ(Accumulated("COUNT", {text}).Add(values).Result(), "3");
  EXPECT_EQ(Accumulated("COUNT", {text}, true).Add(values).Restore().Result(), "2");
  EXPECT_EQ(Accumulated("APPROX_COUNT_DISTINCT", {text}).Add(values).Restore().Result(), "2");
  Accumulated left("COUNT", {text}, true, true);
  Accumulated right("COUNT", {text}, true, true);
  left.Add(values);
  right.Add(Values(text, {"a", "b"}));
  EXPECT_EQ(left.Merge(right).Result(), "3");
  EXPECT_EQ(left.Retract(Values(text, {"b", "a"})).Result(), "2");
  EXPECT_EQ(left.Retract(Values(text, {"a", "a"})).Restore().Result(), "1");
  // A value that goes away in one part before it comes in another stands as often as it should.
  Accumulated early("COUNT", {text}, true, true);
  Accumulated late("COUNT", {text}, true, true);
  early.Retract(Values(text, {"z"}));
  EXPECT_EQ(early.Merge(late.Add(Values(text, {"z", "z"}))).Result(), "1");
  const Type real = Type(TypeId::kDouble);
  EXPECT_EQ(Accumulated("COUNT", {real}, true).Add(Values(real, {"0.0", "-0.0", "NaN", "-NaN"})).Result(),
            "2");
}

TEST(Aggregate, MergingEqualsAddingAll) {
  const Type type = Type(TypeId::kDouble);
  const ColumnPtr one = Values(type, {"1", "2.5", "9"});
  const ColumnPtr two = Values(type, {"-4", "2.5"});
  for (const std::string_view name :
       {"COUNT", "SUM", "AVG", "MIN", "MAX", "APPROX_COUNT_DISTINCT", "VAR_POP"}) {
    Accumulated all(name, {type}), left(name, {type}), right(name, {type});
    all.Add(one).Add(two);
    left.Add(one);
    right.Add(two);
    EXPECT_EQ(left.Merge(right).Result(), all.Result()) << name;
  }
  EXPECT_EQ(Accumulated("STDDEV_SAMP", {type}).Add(Values(type, {"1", "9"})).Result(), "5.656854249492381");
  EXPECT_EQ(Accumulated("VAR_SAMP", {type}).Add(Values(type, {"1"})).Result(), "NULL");
  EXPECT_EQ(Accumulated("VAR_POP", {type}).Add(one).Add(two).Retract(two).Result(),
            Accumulated("VAR_POP", {type}).Add(one).Result());
}

TEST(Aggregate, ApproximateIsNearExact) {
  const Type type = Type(TypeId::kBigInt);
  Accumulated sketch("APPROX_COUNT_DISTINCT", {type});
  constexpr int64_t kCount = 50000;
  for (int64_t begin = 0; begin < kCount; begin += 1000) {
    ColumnBuilder builder(type);
    for (int64_t i = 0; i < 2000; ++i) builder.Append(begin + i / 2);
    sketch.Add(builder.Finish());
  }
  EXPECT_NEAR(std::stod(sketch.Result()), kCount, kCount * 0.05);
}

}  // namespace
}  // namespace caudal
