#include "demo/neobank_text.h"

#include <gtest/gtest.h>

#include <string>

#include "demo/neobank_encoder.h"

namespace caudal {
namespace {

template <typename Put>
std::string Text(const Put& put) {
  char text[NeobankText::kLongestLine];
  return {text, static_cast<size_t>(put(text) - text)};
}

std::string Cents(int64_t cents) {
  return Text([cents](char* out) { return NeobankText::PutCents(out, cents); });
}

TEST(NeobankTextTest, Amounts) {
  EXPECT_EQ(Cents(0), "0.00");
  EXPECT_EQ(Cents(5), "0.05");
  EXPECT_EQ(Cents(-5), "-0.05");
  EXPECT_EQ(Cents(123456), "1234.56");
  EXPECT_EQ(Cents(-100), "-1.00");
  EXPECT_EQ(Cents(INT64_MIN), "-92233720368547758.08");
}

TEST(NeobankTextTest, Timestamps) {
  NeobankText text;
  const auto at = [&text](int64_t ms) { return Text([&](char* out) { return text.PutTimestamp(out, ms); }); };
  EXPECT_EQ(at(1'740'992'400'000), "2025-03-03 09:00:00.000");
  EXPECT_EQ(at(1'740'992'459'999), "2025-03-03 09:00:59.999");
  // The same place among the remembered minutes, another minute.
  EXPECT_EQ(at(1'740'992'400'000 + 64 * 60'000), "2025-03-03 10:04:00.000");
  EXPECT_EQ(at(1'709'251'199'007), "2024-02-29 23:59:59.007");
  EXPECT_EQ(at(4'102'444'799'999), "2099-12-31 23:59:59.999");
  EXPECT_EQ(at(0), "1970-01-01 00:00:00.000");
}

NeobankEvent Example() {
  NeobankEvent event{};
  event.id_high = 0x0123456789ab4def;
  event.id_low = 0x8000000000000001;
  event.timestamp_ms = 1'740'992'400'042;
  event.cents = 1250;
  event.account = 42;
  event.merchant = 123456;
  event.channel = NeobankEvent::kNull;
  event.country = NeobankEvent::kAbsent;
  event.category = 11;
  return event;
}

TEST(NeobankTextTest, RowOfSilver) {
  NeobankText text;
  EXPECT_EQ(Text([&](char* out) { return text.PutRow(out, Example()); }),
            "01234567-89ab-4def-8000-000000000001\tACC-00000042\tMER-123456\t12.50\tEUR\t"
            "2025-03-03 09:00:00.042\t\\N\t\\N\tcompleted\ttoys \"n\" games/hobby");
}

TEST(NeobankTextTest, LineOfJson) {
  NeobankEncoder encoder;
  NeobankEvent event = Example();
  const auto line = [&] { return Text([&](char* out) { return encoder.Encode(out, event); }); };
  const std::string whole = line();
  EXPECT_EQ(whole,
            "{\"transaction_id\":\"01234567-89ab-4def-8000-000000000001\",\"account_id\":\"ACC-00000042\","
            "\"merchant_id\":\"MER-123456\",\"amount\":12.50,\"currency\":\"EUR\","
            "\"timestamp\":\"2025-03-03 09:00:00.042\",\"channel\":null,\"status\":\"completed\","
            "\"merchant_category\":\"toys \\\"n\\\" games\\/hobby\"}\n");
  event.defect = NeobankDefect::kTruncated;
  EXPECT_EQ(line(), "{\n");
  event.cut = 255;
  EXPECT_LT(line().size(), whole.size());
  event.defect = NeobankDefect::kMissingField;
  event.broken_field = 0;
  EXPECT_EQ(line().substr(0, 30), "{\"account_id\":\"ACC-00000042\",\"");
  event.defect = NeobankDefect::kControlByte;
  EXPECT_NE(line().find("\"ACC-\x01"
                        "0000042\""),
            std::string::npos);
}

}  // namespace
}  // namespace caudal
