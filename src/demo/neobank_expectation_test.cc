#include "demo/neobank_expectation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "demo/neobank_files.h"
#include "demo/neobank_report.h"

namespace caudal {
namespace {

constexpr int64_t kNoon = 1'741'003'200'000;  // 2025-03-03 12:00:00

NeobankEvent Event(uint64_t id, int64_t timestamp_ms, uint32_t account = 1, uint32_t merchant = 1,
                   int64_t cents = 1000) {
  NeobankEvent event{};
  event.id_low = id;
  event.timestamp_ms = timestamp_ms;
  event.cents = cents;
  event.account = account;
  event.merchant = merchant;
  return event;
}

class FateTest : public ::testing::Test {
 protected:
  NeobankFate Fate(const NeobankEvent& event) { return expectation_.Observe(event, {0, 0, offset_++}); }

  NeobankExpectation expectation_{NeobankOptions()};
  uint64_t offset_ = 0;
};

TEST_F(FateTest, LateAtTheClockNotAfterIt) {
  EXPECT_EQ(Fate(Event(1, kNoon)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(2, kNoon - 300'000)), NeobankFate::kLate);
  EXPECT_EQ(Fate(Event(3, kNoon - 299'999)), NeobankFate::kPublished);
}

TEST_F(FateTest, DuplicateWhileTheClockIsBeforeFirstPlusRetain) {
  EXPECT_EQ(Fate(Event(1, kNoon)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(2, kNoon + 599'999)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(1, kNoon + 599'999)), NeobankFate::kDuplicate);
  EXPECT_EQ(Fate(Event(3, kNoon + 600'000)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(1, kNoon + 600'000)), NeobankFate::kPublished);  // forgotten
  EXPECT_EQ(Fate(Event(1, kNoon + 600'001)), NeobankFate::kDuplicate);  // of the new first
  EXPECT_EQ(expectation_.published_again(), 1u);
}

TEST_F(FateTest, LateRowIsNeitherLookedUpNorRemembered) {
  EXPECT_EQ(Fate(Event(1, kNoon)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(2, kNoon - 400'000)), NeobankFate::kLate);
  EXPECT_EQ(Fate(Event(2, kNoon)), NeobankFate::kPublished);
  EXPECT_EQ(Fate(Event(1, kNoon - 400'000)), NeobankFate::kLate);
}

TEST_F(FateTest, FilteredRowMovesTheClockAndIsNotRemembered) {
  NeobankEvent pending = Event(1, kNoon);
  pending.status = kNeobankPending;
  pending.cents = 0;
  EXPECT_EQ(Fate(pending), NeobankFate::kStatusFiltered);
  EXPECT_EQ(Fate(Event(2, kNoon - 300'000)), NeobankFate::kLate);
  EXPECT_EQ(Fate(Event(2, kNoon - 300'000, 1, 1, 0)), NeobankFate::kAmountFiltered);
  EXPECT_EQ(Fate(Event(1, kNoon)), NeobankFate::kPublished);
}

TEST_F(FateTest, BadRowsComeFirstAndMoveNothing) {
  NeobankEvent bad = Event(1, kNoon + 3'600'000);
  bad.status = kNeobankPending;
  bad.defect = NeobankDefect::kNullField;
  EXPECT_EQ(Fate(bad), NeobankFate::kContract);
  bad.defect = NeobankDefect::kTruncated;
  EXPECT_EQ(Fate(bad), NeobankFate::kMalformed);
  EXPECT_EQ(Fate(Event(1, kNoon)), NeobankFate::kPublished);
}

TEST(NeobankFeaturesTest, AverageIsRoundedHalfUpToSixPlaces) {
  NeobankExpectation expectation{NeobankOptions()};
  expectation.Observe(Event(1, kNoon, 7, 1, 100), {0, 0, 0});
  expectation.Observe(Event(2, kNoon + 1, 7, 2, 100), {0, 0, 0});
  expectation.Observe(Event(3, kNoon + 61'000, 7, 2, 1), {0, 0, 0});
  std::vector<std::string> seen;
  expectation.features().ForEachWindow([&](const NeobankFeature& f) {
    if (f.window_end_ms <= kNoon + 120'000 || f.window_end_ms >= kNoon + 3'600'000) {
      seen.push_back(std::to_string((f.window_end_ms - kNoon) / 60'000) + " " + std::to_string(f.count) +
                     " " + std::to_string(f.average_millionths) + " " + std::to_string(f.distinct_merchants));
    }
  });
  EXPECT_EQ(seen,
            (std::vector<std::string>{"1 2 1000000 2", "2 3 670000 2", "60 3 670000 2", "61 1 10000 1"}));
  // 2.00 / 3 = 0.666666|6… and 1.00 / 64 = 0.015625 exactly; 0.01 / 64 = 0.000156|25.
  NeobankFeatures features;
  features.Add(Event(1, kNoon, 1, 1, 200));
  for (int i = 0; i < 2; ++i) features.Add(Event(1, kNoon, 1, 1, 0));
  for (int i = 0; i < 64; ++i) features.Add(Event(1, kNoon, 2, 1, i == 0 ? 1 : 0));
  for (int i = 0; i < 32; ++i) features.Add(Event(1, kNoon, 3, 1, i == 0 ? 100 : 0));
  for (int i = 0; i < 20'000; ++i) features.Add(Event(1, kNoon, 4, 1, i == 0 ? 1 : 0));  // 0.0000005, a tie
  std::vector<int64_t> averages;
  features.ForEachLatest([&](const NeobankFeature& f) { averages.push_back(f.average_millionths); });
  EXPECT_EQ(averages, (std::vector<int64_t>{666'667, 156, 31'250, 1}));
}

// The same rules once more, as plainly as can be and from the bytes alone.
struct Naive {
  struct Window {
    int64_t count = 0, cents = 0;
    std::set<std::string> merchants;
  };
  std::map<std::string, uint64_t> fates;
  std::vector<std::pair<std::string, int64_t>> published;  // id, time
  std::map<std::pair<std::string, int64_t>, Window> windows;
  std::vector<std::string> rejected;
  int64_t newest = INT64_MIN;

  static int64_t Milliseconds(const std::string& text) {
    std::tm tm{};
    std::istringstream(text) >> std::get_time(&tm, "%Y-%m-%d %H:%M:%S");
    return int64_t{timegm(&tm)} * 1000 + std::stoi(text.substr(20));
  }

  std::string FateOf(const std::string& line) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded() || (row.contains("amount") && row["amount"].is_string())) return "malformed";
    for (const char* field :
         {"transaction_id", "account_id", "merchant_id", "amount", "currency", "timestamp", "status"}) {
      if (!row.contains(field) || row[field].is_null()) return "contract";
    }
    const int64_t time = Milliseconds(row["timestamp"]);
    const bool has_clock = newest != INT64_MIN;
    const int64_t clock = has_clock ? newest - 300'000 : 0;
    newest = std::max(newest, time);
    const int64_t cents = std::llround(row["amount"].get<double>() * 100);
    if (row["status"] != "completed") return "filtered{status_completed}";
    if (cents <= 0) return "filtered{amount_positive}";
    if (has_clock && time <= clock) return "late";
    const std::string id = row["transaction_id"];
    for (auto earlier = published.rbegin(); earlier != published.rend(); ++earlier) {
      if (earlier->first != id) continue;
      if (clock < earlier->second + 300'000) return "duplicate";
      break;
    }
    published.emplace_back(id, time);
    for (int64_t end = time / 60'000 * 60'000 + 60'000; end - 3'600'000 <= time; end += 60'000) {
      Window& window = windows[{row["account_id"], end}];
      ++window.count;
      window.cents += cents;
      window.merchants.insert(row["merchant_id"].get<std::string>());
    }
    return "published";
  }

  void Read(const NeobankFile& file) {
    for (size_t at = 0; at < file.bytes.size();) {
      const size_t end = file.bytes.find('\n', at);
      const std::string fate = FateOf(file.bytes.substr(at, end - at));
      ++fates[fate];
      if (fate != "published") rejected.push_back(file.name + "\t" + std::to_string(at) + "\t" + fate);
      at = end + 1;
    }
  }
};

std::string Features(const Naive& naive) {
  std::string lines;
  NeobankText text;
  for (const auto& [key, window] : naive.windows) {
    char end[NeobankText::kLongestValue];
    const std::string end_text(end, text.PutTimestamp(end, key.second));
    char average[64];
    std::snprintf(average, sizeof average, "%.6f",
                  static_cast<double>(window.cents) / 100 / static_cast<double>(window.count) + 1e-12);
    lines += key.first + "\t" + end_text + "\t" + std::to_string(window.count) + "\t" + average + "\t" +
             std::to_string(window.merchants.size()) + "\n";
  }
  return lines;
}

// Without the header and the columns window_start and sum_amount_1h.
std::string Reported(NeobankExpectation* expectation, NeobankFeatureTable table) {
  std::string text, lines;
  EXPECT_TRUE(WriteNeobankFeatures(expectation, table, [&](std::string_view piece) {
                text += piece;
                return Status();
              }).ok());
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    EXPECT_EQ(cells.size(), 7u);
    lines += cells[0] + "\t" + cells[2] + "\t" + cells[3] + "\t" + cells[5] + "\t" + cells[6] + "\n";
  }
  return lines;
}

TEST(NeobankExpectationTest, AgreesWithNaiveReadingOfTheBytes) {
  NeobankOptions options;
  options.events = 6'000;
  options.file_events = 999;
  options.events_per_second_of_event_time = 1.5;
  options.accounts = 20;
  options.merchants = 30;
  options.duplicates = 0.05;
  options.late = options.late_retries = options.settled = options.malformed = options.broken = 0.02;
  options.at_clock = 0.01;
  ASSERT_TRUE(options.Validate().ok());
  for (options.seed = 1; options.seed <= 3; ++options.seed) {
    NeobankExpectation expectation(options);
    NeobankFiles files(options, &expectation);
    Naive naive;
    for (NeobankFile file; files.Next(&file);) naive.Read(file);

    uint64_t sum = 0;
    for (int fate = 0; fate < kNeobankFates; ++fate) {
      const std::string name(NeobankFateName(static_cast<NeobankFate>(fate)));
      EXPECT_EQ(expectation.count(static_cast<NeobankFate>(fate)), naive.fates[name]) << name;
      EXPECT_GT(naive.fates[name], 30u) << name;
      sum += naive.fates[name];
    }
    EXPECT_EQ(sum, options.events);
    EXPECT_GT(expectation.published_again(), 5u);
    std::string rejected = "file\toffset\tfate\n";
    for (const std::string& line : naive.rejected) rejected += line + "\n";
    std::string reported;
    EXPECT_TRUE(WriteNeobankRejected(expectation, false, NeobankFiles::NameOf, [&](std::string_view piece) {
                  reported += piece;
                  return Status();
                }).ok());
    EXPECT_EQ(reported, rejected);
    EXPECT_EQ(Reported(&expectation, NeobankFeatureTable::kEveryWindow), Features(naive));

    // The newest window of each account only.
    Naive latest;
    for (const auto& [key, window] : naive.windows) {
      latest.windows.erase(latest.windows.lower_bound({key.first, 0}),
                           latest.windows.lower_bound({key.first, key.second}));
      latest.windows[key] = window;
    }
    EXPECT_EQ(latest.windows.size(), 20u);
    EXPECT_EQ(Reported(&expectation, NeobankFeatureTable::kLatest), Features(latest));
  }
}

TEST(NeobankExpectationTest, ReportIsJsonThatAddsUp) {
  NeobankOptions options;
  options.events = 50'000;
  options.events_per_second_of_event_time = 10;
  NeobankExpectation expectation(options);
  RowDigest silver;
  NeobankText text;
  expectation.on_published = [&](const NeobankEvent& event) {
    char line[NeobankText::kLongestLine];
    silver.Add({line, static_cast<size_t>(text.PutRow(line, event) - line)});
  };
  NeobankFiles files(options, &expectation);
  for (NeobankFile file; files.Next(&file);) {
  }
  const nlohmann::json json = nlohmann::json::parse(NeobankExpectationJson(&expectation));
  EXPECT_EQ(json["events"], 50'000);
  EXPECT_EQ(json["silver"]["digest"], silver.ToString());
  uint64_t rows = 0;
  int64_t cents = 0;
  for (const nlohmann::json& partition : json["silver"]["partitions"]) {
    rows += partition["rows"].get<uint64_t>();
    cents += partition["amount_cents"].get<int64_t>();
  }
  EXPECT_EQ(rows, json["fates"]["published"]);
  EXPECT_EQ(cents, json["silver"]["amount_cents"]);
  EXPECT_EQ(json["silver"]["partitions"][0]["date"], "2025-03-03");
  // Each row is in 60 windows.
  EXPECT_EQ(json["features"]["every_window"]["txn_count"], rows * 60);
  EXPECT_EQ(json["features"]["every_window"]["amount_cents"], cents * 60);
}

TEST(NeobankExpectationTest, SinkErrorEndsTheReport) {
  NeobankExpectation expectation{NeobankOptions()};
  const Status status = WriteNeobankFeatures(&expectation, NeobankFeatureTable::kLatest,
                                             [](std::string_view) { return Status::External("disk full"); });
  EXPECT_EQ(status.message(), "disk full");
}

// Known values, for those who compute the digest elsewhere.
TEST(RowDigestTest, KnownValues) {
  EXPECT_EQ(RowDigest::Hash(""), 0xcbf29ce484222325u);
  RowDigest one, other;
  one.Add("a\tb");
  one.Add("12345678");
  other.Add("12345678");
  other.Add("a\tb");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.ToString(), "2:5f2209ccedc9d5d4:9c19f122ec098012");
  EXPECT_NE(RowDigest::Hash("12345678a"), RowDigest::Hash("12345678b"));
}

}  // namespace
}  // namespace caudal
