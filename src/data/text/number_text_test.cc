#include "data/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace caudal {
namespace {

std::string Double(double value) {
  char text[kDoubleTextSize];
  return std::string(text, FormatDouble(value, text));
}
std::string Float(float value) {
  char text[kDoubleTextSize];
  return std::string(text, FormatFloat(value, text));
}
std::string Decimal(std::string_view text, int precision, int scale) {
  int128_t value = 0;
  if (!ParseDecimal(text, precision, scale, &value)) return "-";
  char out[kDecimalTextSize];
  const std::string wide(out, FormatDecimal(value, scale, out));
  if (precision <= 18) {
    int64_t narrow = 0;
    EXPECT_TRUE(ParseDecimal64(text, precision, scale, &narrow)) << text;
    EXPECT_EQ(std::string(out, FormatDecimal(narrow, scale, out)), wide);
  }
  return wide;
}
std::string Integer(std::string_view text) {
  int64_t value = 0;
  return ParseInteger(text, &value) ? std::to_string(value) : "-";
}
double ParsedDouble(std::string_view text) {
  double value = -12345;
  return ParseDouble(text, &value) ? value : -99999;
}

TEST(NumberText, IntegersAsCastReadsThem) {
  EXPECT_EQ(Integer(" 42 "), "42");
  EXPECT_EQ(Integer("+7"), "7");
  EXPECT_EQ(Integer("-1.9"), "-1");
  EXPECT_EQ(Integer("0012"), "12");
  EXPECT_EQ(Integer("5."), "5");
  EXPECT_EQ(Integer(".5"), "0");
  EXPECT_EQ(Integer("."), "0");
  EXPECT_EQ(Integer("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Integer("-9223372036854775808"), "-9223372036854775808");
  for (const char* bad : {"", "-", "abc", "9223372036854775808", "1e3", "1_000", "0x10", "１", "--1", "1.2.3",
                          "99999999999999999999999"}) {
    EXPECT_EQ(Integer(bad), "-") << bad;
  }
}

TEST(NumberText, JavasDoubles) {
  EXPECT_EQ(Double(1), "1.0");
  EXPECT_EQ(Double(-0.0), "-0.0");
  EXPECT_EQ(Double(0.1), "0.1");
  EXPECT_EQ(Double(1e7), "1.0E7");
  EXPECT_EQ(Double(9999999), "9999999.0");
  EXPECT_EQ(Double(0.001), "0.001");
  EXPECT_EQ(Double(0.0001), "1.0E-4");
  EXPECT_EQ(Double(1.2345678901234568E16), "1.2345678901234568E16");
  EXPECT_EQ(Double(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(Double(std::nan("")), "NaN");
  EXPECT_EQ(Double(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(Float(0.3333333333f), "0.33333334");
  EXPECT_EQ(Float(1e10f), "1.0E10");
  EXPECT_EQ(Float(1.1f), "1.1");
}

TEST(NumberText, DoublesAreParsedAsJavaDoes) {
  EXPECT_EQ(ParsedDouble(" 1.5 "), 1.5);
  EXPECT_EQ(ParsedDouble("1.5d"), 1.5);
  EXPECT_EQ(ParsedDouble("1f"), 1);
  EXPECT_EQ(ParsedDouble(".5"), 0.5);
  EXPECT_EQ(ParsedDouble("0x1p3"), 8);
  EXPECT_EQ(ParsedDouble("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParsedDouble("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParsedDouble("1e-400"), 0);
  EXPECT_TRUE(std::isnan(ParsedDouble("-NaN")));
  for (const char* bad : {"", "abc", "nan", "inf", "1,5", "1e", "--1", "d", "1 2", "0x", "infinity"}) {
    EXPECT_EQ(ParsedDouble(bad), -99999) << bad;
  }
  float value = 0;
  EXPECT_TRUE(ParseFloat("1e39", &value));
  EXPECT_EQ(value, std::numeric_limits<float>::infinity());
}

TEST(NumberText, DecimalsRoundHalfUpAndKeepTheirPrecision) {
  EXPECT_EQ(Decimal("1.005", 10, 2), "1.01");
  EXPECT_EQ(Decimal("-1.005", 10, 2), "-1.01");
  EXPECT_EQ(Decimal("1e2", 10, 2), "100.00");
  EXPECT_EQ(Decimal(" 7 ", 10, 2), "7.00");
  EXPECT_EQ(Decimal("0.0", 3, 2), "0.00");
  EXPECT_EQ(Decimal(".5", 3, 3), "0.500");
  EXPECT_EQ(Decimal("1e-3", 3, 3), "0.001");
  EXPECT_EQ(Decimal("0.9994", 38, 0), "1");
  EXPECT_EQ(Decimal("99999999999999999999999999999999999999", 38, 0),
            "99999999999999999999999999999999999999");
  EXPECT_EQ(Decimal("0.00000000000000000000000000000000000001", 38, 38),
            "0.00000000000000000000000000000000000001");
  EXPECT_EQ(Decimal("1e-50", 38, 2), "0.00");
  EXPECT_EQ(Decimal("12345678901234567890123456789012345678.4", 38, 0),
            "12345678901234567890123456789012345678");
  for (const char* bad :
       {"", "abc", "1.2.3", "NaN", "1e38", "e5", ".", "-", "1e", "99999999.995", "1e999999"}) {
    EXPECT_EQ(Decimal(bad, 10, 2), "-") << bad;
  }
  EXPECT_EQ(Decimal("0", 3, 3), "-");  // Flink counts the zero as a digit
  EXPECT_EQ(Decimal("0.9994", 3, 3), "-");
}

TEST(NumberText, DecimalArithmeticForms) {
  int128_t out = 0;
  EXPECT_TRUE(RescaleDecimal(1005, 3, 2, 10, &out));
  EXPECT_TRUE(out == 101);
  EXPECT_TRUE(RescaleDecimal(-1005, 3, 2, 10, &out));
  EXPECT_TRUE(out == -101);
  EXPECT_FALSE(RescaleDecimal(99995, 2, 1, 4, &out));
  EXPECT_EQ(DecimalToDouble(int128_t{1234567890123456789}, 2), 1.2345678901234568E16);
  EXPECT_TRUE(DoubleToDecimal(1.005, 10, 2, &out));
  EXPECT_TRUE(out == 101);
  EXPECT_FALSE(DoubleToDecimal(std::nan(""), 10, 2, &out));
  EXPECT_FALSE(DoubleToDecimal(1e9, 10, 2, &out));
  char text[kDecimalTextSize];
  EXPECT_EQ(std::string(text, FormatDecimal(-5, 2, text)), "-0.05");
  EXPECT_EQ(std::string(text, FormatDecimal(0, 0, text)), "0");
}

}  // namespace
}  // namespace caudal
