#include "api/connector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

class Files : public Connector {
 public:
  std::string_view name() const override { return "files"; }
  std::span<const OptionSpec> options() const override {
    static constexpr OptionSpec kOptions[] = {
        {"path", OptionSpec::Type::kString, "", "the folder", true},
        {"source.monitor-interval", OptionSpec::Type::kDuration, "", "how often to look"},
        {"json.*", OptionSpec::Type::kString, "", "format options"},
        {"compact", OptionSpec::Type::kNotBuilt, "false", "leave it out"},
    };
    return kOptions;
  }
};

Table With(Options options) {
  Table table;
  table.name = "t";
  table.options = std::move(options);
  return table;
}

TEST(ConnectorTest, UnknownOptionNamesTheNearest) {
  const Status status = ValidateOptions(Files(), With({{"connector", "files"}, {"paht", "/x"}}));
  EXPECT_EQ(status.ToString(),
            "error[user]: unknown option 'paht' for connector 'files' of table 't'\n"
            "  hint: did you mean 'path'?");
}

TEST(ConnectorTest, MissingAndMistypedOptionsAreRefused) {
  EXPECT_EQ(ValidateOptions(Files(), With({{"connector", "files"}})).ToString(),
            "error[user]: table 't' has no option 'path', which connector 'files' needs\n"
            "  hint: add 'path' = '…' to WITH: the folder");
  EXPECT_EQ(ValidateOptions(Files(), With({{"path", "/x"}, {"source.monitor-interval", "soon"}})).ToString(),
            "error[user]: 'soon' is not a duration\n  at option 'source.monitor-interval' of table 't'");
  EXPECT_TRUE(ValidateOptions(Files(), With({{"path", "/x"}, {"json.anything", "1"}})).ok());
}

// What src/run/job_options.cc asks of a table, whatever its connector; docs/settings.md has the list.
TEST(ConnectorTest, SomeOptionsAreEveryTables) {
  for (const char* name : {"caudal.errors", "caudal.dead-letter", "caudal.max-future-skew",
                           "scan.watermark.alignment.max-drift", "scan.watermark.idle-timeout"}) {
    Table table = With({{"path", "/x"}, {name, "1 s"}});
    table.watermark = WatermarkSpec();
    const Status status = ValidateOptions(Files(), table);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST(ConnectorTest, OptionsOfAWatermarkWantOne) {
  for (const char* name :
       {"caudal.max-future-skew", "scan.watermark.alignment.max-drift", "scan.watermark.idle-timeout"}) {
    const Status status = ValidateOptions(Files(), With({{"path", "/x"}, {name, "1 s"}}));
    EXPECT_EQ(status.message(), fmt::format("'{}' has no effect on a table without a WATERMARK", name));
    EXPECT_FALSE(status.hint().empty());
  }
}

TEST(ConnectorTest, WhatIsNotBuiltIsNamedUnlessItAsksForNothing) {
  EXPECT_EQ(ValidateOptions(Files(), With({{"path", "/x"}, {"compact", "true"}})).ToString(),
            "error[user]: this option is not built yet\n  at option 'compact' of table 't'\n"
            "  hint: leave it out");
  EXPECT_TRUE(ValidateOptions(Files(), With({{"path", "/x"}, {"compact", "FALSE"}})).ok());
  EXPECT_EQ(ValidateOptions(Files(), With({{"path", "/x"}, {"compakt", "true"}})).hint(),
            "options are path, source.monitor-interval, json.*");
}

TEST(ConnectorTest, DurationsAndSizesAsInFlink) {
  EXPECT_EQ(*ParseDurationMillis("30 s"), 30'000);
  EXPECT_EQ(*ParseDurationMillis("5min"), 300'000);
  EXPECT_EQ(*ParseDurationMillis("7"), 7);
  EXPECT_EQ(*ParseBytes("128 MB"), 128 << 20);
  EXPECT_FALSE(ParseBytes("12 parsecs").ok());
  EXPECT_FALSE(ParseDurationMillis("-1 s").ok());
  EXPECT_EQ(*ParseDurationMillis("36500 d"), int64_t{36'500} * 86'400'000);
  EXPECT_EQ(ParseDurationMillis("99999999999 d").status().ToString(),
            "error[user]: '99999999999 d' is too long\n  hint: no time is longer than '36500 d'");
}

}  // namespace
}  // namespace caudal
