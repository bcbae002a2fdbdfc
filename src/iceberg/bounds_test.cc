// KF-35: column bounds with NaN, cut strings, and parts without statistics.
#include "iceberg/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace caudal::iceberg {
namespace {

using std::string_literals::operator""s;

const Type kText(TypeId::kString);
const Type kBytes(TypeId::kBinary);

std::optional<std::string> Upper(const std::string& text, int width = kBoundWidth) {
  return UpperBound(kText, Value(text), width);
}

TEST(Bounds, ShortValuesAreKeptWhole) {
  EXPECT_EQ(LowerBound(kText, Value("ice"s)), "ice");
  EXPECT_EQ(Upper("ice"), "ice");
  EXPECT_EQ(Upper("0123456789abcdef"), "0123456789abcdef");
  EXPECT_EQ(UpperBound(Type(TypeId::kInt), Value(int64_t{1})), "\1\0\0\0"s);
}

TEST(Bounds, LongTextIsCutBetweenCharactersAndRaised) {
  EXPECT_EQ(LowerBound(kText, Value("0123456789abcdefg"s)), "0123456789abcdef");
  EXPECT_EQ(Upper("0123456789abcdefg"), "0123456789abcdeg");
  // An emoji at byte 15 has four bytes, and is one character.
  EXPECT_EQ(LowerBound(kText, Value("0123456789abcde😀f"s)), "0123456789abcde😀");
  EXPECT_EQ(Upper("0123456789abcde😀f"), "0123456789abcde😁");
  EXPECT_EQ(Upper("ab\x7f"
                  "c",
                  3),
            "ab\xc2\x80");  // one byte to two
  EXPECT_EQ(Upper("a\xdf\xbf"
                  "c",
                  2),
            "a\xe0\xa0\x80");  // two to three
  EXPECT_EQ(Upper("a\xef\xbf\xbf"
                  "c",
                  2),
            "a\xf0\x90\x80\x80");  // three to four
  EXPECT_EQ(Upper("a\xed\x9f\xbf"
                  "c",
                  2),
            "a\xee\x80\x80");  // over the surrogates
}

TEST(Bounds, TheHighestCharacterCannotBeRaised) {
  const std::string highest = "\xf4\x8f\xbf\xbf";
  EXPECT_EQ(Upper("a" + highest + "x", 2), "b");
  EXPECT_EQ(Upper(highest + highest + "x", 2), std::nullopt);
  EXPECT_EQ(Upper(highest + highest, 2), highest + highest) << "nothing was cut";
}

TEST(Bounds, BytesAreCutAndRaised) {
  EXPECT_EQ(LowerBound(kBytes, Value("\1\2\3"s), 2), "\1\2");
  EXPECT_EQ(UpperBound(kBytes, Value("\1\2\3"s), 2), "\1\3");
  EXPECT_EQ(UpperBound(kBytes, Value("\1\xff\3"s), 2), "\2");
  EXPECT_EQ(UpperBound(kBytes, Value("\xff\xff\3"s), 2), std::nullopt);
}

TEST(Bounds, NanAndNullAreCountedAndNeverABound) {
  BoundsCollector collector;
  for (double value : {5.0, 5.0, std::nan("")}) collector.Add(Value(value));
  collector.Add(Value());
  EXPECT_EQ(collector.lowest(), Value(5.0));
  EXPECT_EQ(collector.highest(), Value(5.0));
  EXPECT_EQ(collector.nans(), 1);
  EXPECT_EQ(collector.nulls(), 1);
}

TEST(Bounds, APartThatCannotTellLeavesNone) {
  BoundsCollector collector;
  collector.Add(Value("a"s));
  collector.AddUnknown();
  EXPECT_EQ(collector.lowest(), std::nullopt);
  EXPECT_EQ(collector.highest(), std::nullopt);
  EXPECT_EQ(BoundsCollector().lowest(), std::nullopt);
}

TEST(Bounds, BothZerosAreInside) {
  for (double zero : {0.0, -0.0}) {
    BoundsCollector collector;
    collector.Add(Value(zero));
    EXPECT_TRUE(std::signbit(std::get<double>(collector.lowest()->data)));
    EXPECT_FALSE(std::signbit(std::get<double>(collector.highest()->data)));
  }
}

TEST(Bounds, OrderIsThatOfTheBytesAndTheNumbers) {
  EXPECT_TRUE(SortsBefore(Value("a"s), Value("\xc3\xa9"s)));
  EXPECT_TRUE(SortsBefore(Value(int128_t{-5}), Value(int128_t{3})));
  EXPECT_TRUE(SortsBefore(Value(-0.0), Value(0.0)));
  EXPECT_FALSE(SortsBefore(Value(0.0), Value(-0.0)));
  EXPECT_TRUE(SortsBefore(Value(false), Value(true)));
}

}  // namespace
}  // namespace caudal::iceberg
