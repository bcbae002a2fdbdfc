#include "data/text/time_text.h"

#include <gtest/gtest.h>

#include <string>

#include "data/text/time_zone.h"

namespace caudal {
namespace {

std::string Timestamp(std::string_view text, int precision) {
  int64_t ticks = 0;
  if (!ParseTimestamp(text, precision, &ticks)) return "-";
  char out[kTimestampTextSize];
  return std::string(out, FormatTimestamp(ticks, precision, out));
}
std::string Date(std::string_view text) {
  int32_t days = 0;
  if (!ParseDate(text, &days)) return "-";
  char out[kDateTextSize];
  return std::string(out, FormatDate(days, out));
}
std::string Time(std::string_view text, int precision) {
  int32_t millis = 0;
  if (!ParseTime(text, precision, &millis)) return "-";
  char out[kTimeTextSize];
  return std::string(out, FormatTime(millis, precision, out));
}

TEST(TimeText, CalendarGoesBothWays) {
  EXPECT_EQ(DaysFromCivil(1970, 1, 1), 0);
  EXPECT_EQ(DaysFromCivil(2000, 3, 1), 11017);
  for (int64_t days = -800000; days < 3000000; days += 37) {
    const CivilDate date = CivilFromDays(days);
    ASSERT_EQ(DaysFromCivil(date.year, date.month, date.day), days);
  }
}

TEST(TimeText, Timestamps) {
  EXPECT_EQ(Timestamp("2024-02-29 10:11:12", 3), "2024-02-29 10:11:12.000");
  EXPECT_EQ(Timestamp("2024-02-29 10:11:12.9999", 3), "2024-02-29 10:11:12.999");
  EXPECT_EQ(Timestamp("2024-02-29 10:11:12.123456789", 9), "2024-02-29 10:11:12.123456789");
  EXPECT_EQ(Timestamp("2024-02-29 10:11:12.123456789", 6), "2024-02-29 10:11:12.123456");
  EXPECT_EQ(Timestamp("2024-02-29", 0), "2024-02-29 00:00:00");
  EXPECT_EQ(Timestamp("2024-2-9 1:2:3", 3), "2024-02-09 01:02:03.000");
  EXPECT_EQ(Timestamp("2024-02-30 00:00:00", 3), "2024-02-29 00:00:00.000");
  EXPECT_EQ(Timestamp("1969-12-31 23:59:59.999", 3), "1969-12-31 23:59:59.999");
  EXPECT_EQ(Timestamp("0001-01-01 00:00:00", 3), "0001-01-01 00:00:00.000");
  for (const char* bad : {"", "abc", "2024-02-29T10:11:12", "2024-02-29 25:00:00", "2024-02-29 10:11:12Z",
                          "2024-02-29 10", "10:11:12", "2024-02-29 10:11:60", "1700000000", "2024-13-01",
                          "2024-02-32 00:00:00", "2024-02-29 10:11:12.1234567890"}) {
    EXPECT_EQ(Timestamp(bad, 3), "-") << bad;
  }
  int64_t ticks = 0;
  EXPECT_FALSE(ParseTimestamp("0001-01-01 00:00:00", 9, &ticks));  // 64 bits of nanoseconds reach 1677 … 2262
}

TEST(TimeText, FormatsOfJson) {
  int64_t ticks = 0;
  EXPECT_TRUE(ParseTimestampIn(TimestampForm::kIso8601, "2026-06-25T09:15:00", 3, &ticks));
  int64_t instant = 0;
  EXPECT_TRUE(ParseInstantIn(TimestampForm::kIso8601, "2026-06-25T11:15:00+02:00", 3, &instant));
  EXPECT_EQ(instant, ticks);
  EXPECT_TRUE(ParseInstantIn(TimestampForm::kSql, "2026-06-25 09:15:00Z", 3, &instant));
  EXPECT_EQ(instant, ticks);
  EXPECT_TRUE(ParseInstantIn(TimestampForm::kIso8601, "2022-02-09T13:27:27.3850848Z", 3, &instant));
  EXPECT_EQ(instant % 1'000'000, 385'000);
  EXPECT_FALSE(ParseTimestampIn(TimestampForm::kSql, "0000-00-00 00:00:00", 3, &ticks));
  EXPECT_FALSE(ParseTimestampIn(TimestampForm::kSql, "2026-06-25T09:15:00", 3, &ticks));
  EXPECT_FALSE(ParseTimestampIn(TimestampForm::kSql, "2026-06-25 09:15:00.", 3, &ticks));
  EXPECT_FALSE(ParseInstantIn(TimestampForm::kSql, "2026-06-25 09:15:00+02:00", 3, &instant));
  char out[kTimestampTextSize];
  EXPECT_EQ(std::string(out, FormatTimestampIn(TimestampForm::kIso8601, 1'500'000, 3, true, out)),
            "1970-01-01T00:00:01.5Z");
  EXPECT_EQ(std::string(out, FormatTimestampIn(TimestampForm::kSql, 1'000'000, 3, false, out)),
            "1970-01-01 00:00:01");
}

TEST(TimeText, DatesTimesIntervals) {
  EXPECT_EQ(Date(" 2024-02-29 "), "2024-02-29");
  EXPECT_EQ(Date("2024-2-9"), "2024-02-09");
  EXPECT_EQ(Date("2024-02-29 10:11:12"), "2024-02-29");
  EXPECT_EQ(Date("2024"), "2024-01-01");
  EXPECT_EQ(Date("2024-02"), "2024-02-01");
  EXPECT_EQ(Date("0"), "0000-01-01");
  for (const char* bad :
       {"", "abc", "2024-02-30", "2023-02-29", "29/02/2024", "12024-01-01", "20240229", "-1.5"}) {
    EXPECT_EQ(Date(bad), "-") << bad;
  }
  EXPECT_EQ(Time("1:2:3", 0), "01:02:03");
  EXPECT_EQ(Time("10:11", 0), "10:11:00");
  EXPECT_EQ(Time("10", 0), "10:00:00");
  EXPECT_EQ(Time("23:59:59.999", 3), "23:59:59.999");
  EXPECT_EQ(Time("24:00:00", 0), "-");
  char out[kTimestampTextSize];
  EXPECT_EQ(std::string(out, FormatYearMonthInterval(14, out)), "+1-02");
  EXPECT_EQ(std::string(out, FormatYearMonthInterval(-5, out)), "-0-05");
  EXPECT_EQ(std::string(out, FormatDayTimeInterval(-93784005, out)), "-1 02:03:04.005");
}

TEST(TimeZone, KnowsOffsetsAndChangesOfTheClock) {
  TimeZone zone = TimeZone::Find("America/New_York").value();
  EXPECT_EQ(zone.OffsetAt(0), -5 * 3600);
  EXPECT_EQ(zone.OffsetAt(1772955000), -4 * 3600);
  const auto local = [](std::string_view text) {
    int64_t ticks = 0;
    EXPECT_TRUE(ParseTimestamp(text, 0, &ticks));
    return ticks / 1'000'000;
  };
  EXPECT_EQ(zone.ToUtcSeconds(local("2026-03-08 02:30:00")), 1772955000);
  EXPECT_EQ(zone.ToUtcSeconds(local("2026-11-01 01:30:00")), 1793511000);
  EXPECT_EQ(zone.ToUtcSeconds(local("2026-11-01 01:30:00"), true), 1793514600);
  EXPECT_EQ(zone.ToUtcSeconds(local("2026-07-01 00:00:00")), local("2026-07-01 04:00:00"));
  EXPECT_EQ(TimeZone::Find("GMT+08:00").value().OffsetAt(0), 8 * 3600);
  EXPECT_TRUE(TimeZone::Find("UTC").value().is_utc());
  const Status unknown = TimeZone::Find("Mars/Olympus").status();
  EXPECT_EQ(unknown.message(), "'Mars/Olympus' is not a known time zone");
}

}  // namespace
}  // namespace caudal
