#include "demo/neobank_options.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

TEST(NeobankOptionsTest, DefaultsAreValid) { EXPECT_TRUE(NeobankOptions().Validate().ok()); }

TEST(NeobankOptionsTest, NamesTheWrongOption) {
  NeobankOptions options;
  options.late = -0.1;
  EXPECT_EQ(options.Validate().message(), "option '--late': '-0.1' is not between 0 and 1");
  options = {};
  options.accounts = 0;
  EXPECT_EQ(options.Validate().message(), "option '--accounts': '0' is not between 1 and 100000000");
  options = {};
  options.file_events = 0;
  EXPECT_EQ(options.Validate().message(), "option '--file-events': '0' is not between 1 and 100000000");
  options = {};
  options.events_per_second_of_event_time = 0;
  EXPECT_EQ(options.Validate().message(),
            "option '--event-time-rate': '0' is not between 0.001 and 10000000");
}

TEST(NeobankOptionsTest, RefusesWhatCannotBeMade) {
  NeobankOptions options;
  options.duplicates = 0.6;
  options.late = 0.4;
  EXPECT_EQ(options.Validate().message(), "the shares of special rows add up to 100%, more than 90%");
  options = {};
  options.events = 10'000'000'000;
  options.file_events = 100;
  EXPECT_EQ(options.Validate().message(), "option '--file-events': '100' makes more than 100000000 files");
  options = {};
  options.events_per_second_of_event_time = 0.001;
  options.events = 10'000'000;
  EXPECT_EQ(options.Validate().message(), "event time does not stay between 1970-01-03 and 2100-01-01");
  options = {};
  options.watermark_delay_ms = 1000;
  EXPECT_FALSE(options.Validate().ok());
}

TEST(NeobankOptionsTest, ReadsFractions) {
  EXPECT_DOUBLE_EQ(*ParseFraction("late", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(*ParseFraction("late", "0.5 %"), 0.005);
  EXPECT_DOUBLE_EQ(*ParseFraction("late", "0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*ParseFraction("late", "100%"), 1);
  for (const char* wrong : {"", "%", "x", "1 percent", "101%", "1.5", "-1%", "nan", "0.1%%", "1%x"}) {
    const Result<double> result = ParseFraction("late", wrong);
    ASSERT_FALSE(result.ok()) << wrong;
    EXPECT_EQ(result.status().message(),
              std::string("option '--late': '") + wrong + "' is not a share between 0% and 100%");
  }
}

}  // namespace
}  // namespace caudal
