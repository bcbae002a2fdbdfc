#include "run/job_options.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

// docs/settings.md states them.
TEST(JobSettingsTest, Defaults) {
  const Result<JobSettings> settings = JobSettings::From(Plan{});
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  EXPECT_EQ(settings->epochs.interval_millis, 30'000);
  EXPECT_EQ(settings->epochs.min_pause_millis, 0);
  EXPECT_EQ(settings->epochs.keep, 3);
  EXPECT_EQ(settings->evaluator.time_zone, "UTC");
  EXPECT_FALSE(settings->mini_batch);
  EXPECT_EQ(settings->idle_timeout_millis, 0);
  EXPECT_EQ(settings->max_rows_per_epoch, 0);
  EXPECT_EQ(settings->memory_limit, int64_t{2} << 30);
  EXPECT_EQ(settings->lane_bytes, 16 << 20);
}

TEST(JobSettingsTest, AWrongValueNamesItsKey) {
  Plan plan;
  plan.settings["execution.checkpointing.interval"] = "soon";
  EXPECT_EQ(JobSettings::From(plan).status().domain(), Domain::kUser);
  EXPECT_EQ(JobSettings::From(plan).status().message().substr(0, 36), "'execution.checkpointing.interval': ");
}

TEST(JobSettingsTest, WhatATableSaysAboutItsClocks) {
  Table table;
  table.name = "t";
  table.options = {{"scan.watermark.alignment.max-drift", "1 min"},
                   {"scan.watermark.idle-timeout", "2 s"},
                   {"caudal.max-future-skew", "3 s"}};
  const Result<SourceOptions> options = SourceOptionsOf(table, Plan{}, JobSettings{});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->max_drift_millis, 60'000);
  EXPECT_EQ(options->idle_timeout_millis, 2000);
  EXPECT_EQ(options->max_skew_millis, 3000);
}

TEST(JobSettingsTest, WhatABadRowDoes) {
  Table table;
  table.name = "t";
  EXPECT_TRUE(SourceOptionsOf(table, Plan{}, JobSettings{}).ok());
  table.options["caudal.errors"] = "ignore";
  EXPECT_EQ(SourceOptionsOf(table, Plan{}, JobSettings{}).status().ToString(),
            "error[user]: 'caudal.errors' of table 't' is 'ignore'\n"
            "  hint: it can be 'fail', 'skip' or 'dead-letter'");
  table.options["caudal.errors"] = "dead-letter";
  EXPECT_EQ(SourceOptionsOf(table, Plan{}, JobSettings{}).status().domain(), Domain::kUser);
}

}  // namespace
}  // namespace caudal
