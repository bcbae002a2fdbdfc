#include "demo/neobank_generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "demo/neobank_files.h"
#include "demo/row_digest.h"

namespace caudal {
namespace {

std::string Bytes(const NeobankOptions& options, uint64_t block) {
  NeobankGenerator generator(options);
  std::string bytes;
  while (generator.NextBlock(block, &bytes) > 0) {
  }
  return bytes;
}

NeobankOptions Small(uint64_t events) {
  NeobankOptions options;
  options.events = events;
  return options;
}

TEST(NeobankGeneratorTest, SameSeedSameBytesWhateverTheBlock) {
  const std::string bytes = Bytes(Small(5'000), 5'000);
  EXPECT_EQ(bytes, Bytes(Small(5'000), 1));
  EXPECT_EQ(bytes, Bytes(Small(5'000), 700));
  NeobankOptions other = Small(5'000);
  other.seed = 43;
  EXPECT_NE(bytes, Bytes(other, 5'000));
}

// Other results are compared with figures made from these bytes: they never change unnoticed.
TEST(NeobankGeneratorTest, BytesAreTheKnownOnes) {
  EXPECT_EQ(RowDigest::Hash(Bytes(Small(100'000), 100'000)), 16208603081969396486u);
}

TEST(NeobankGeneratorTest, LongerRunBeginsLikeAShorterOne) {
  const std::string shorter = Bytes(Small(3'000), 3'000);
  EXPECT_EQ(Bytes(Small(6'000), 6'000).substr(0, shorter.size()), shorter);
}

TEST(NeobankGeneratorTest, FilesAreTheStreamCutAtLines) {
  NeobankOptions options = Small(2'500);
  options.file_events = 1'000;
  std::string joined;
  std::vector<std::string> names;
  std::vector<uint64_t> events;
  NeobankFiles files(options, nullptr);
  for (NeobankFile file; files.Next(&file);) {
    EXPECT_EQ(file.bytes.back(), '\n');
    joined += file.bytes;
    names.push_back(file.name);
    events.push_back(file.events);
  }
  EXPECT_EQ(joined, Bytes(options, 2'500));
  EXPECT_EQ(names, (std::vector<std::string>{"transactions-00000000.ndjson", "transactions-00000001.ndjson",
                                             "transactions-00000002.ndjson"}));
  EXPECT_EQ(events, (std::vector<uint64_t>{1'000, 1'000, 500}));
  EXPECT_FALSE(NeobankFiles(Small(0), nullptr).Next(std::make_unique<NeobankFile>().get()));
}

TEST(NeobankGeneratorTest, ObservedFilesAreTheSameFiles) {
  const NeobankOptions options = Small(3'000);
  NeobankExpectation expectation(options);
  NeobankFile file;
  ASSERT_TRUE(NeobankFiles(options, &expectation).Next(&file));
  EXPECT_EQ(file.bytes, Bytes(options, 3'000));
  EXPECT_EQ(expectation.events(), 3'000u);
}

void ExpectShare(const NeobankExpectation& expectation, NeobankFate fate, double share) {
  const double expected = share * static_cast<double>(expectation.events());
  EXPECT_NEAR(static_cast<double>(expectation.count(fate)), expected,
              0.05 * expected + 4 * std::sqrt(expected))
      << NeobankFateName(fate);
}

TEST(NeobankGeneratorTest, SharesAreAsAskedFor) {
  NeobankOptions options = Small(400'000);
  options.events_per_second_of_event_time = 200;
  NeobankExpectation expectation(options);
  NeobankFiles files(options, &expectation);
  for (NeobankFile file; files.Next(&file);) {
  }
  EXPECT_EQ(expectation.events(), options.events);
  ExpectShare(expectation, NeobankFate::kMalformed, options.malformed);
  ExpectShare(expectation, NeobankFate::kContract, options.broken);
  ExpectShare(expectation, NeobankFate::kStatusFiltered, options.not_completed);
  ExpectShare(expectation, NeobankFate::kAmountFiltered, options.not_positive * (1 - options.not_completed));
  ExpectShare(expectation, NeobankFate::kLate, options.late * 15 / 16 + options.late_retries / 2);
  ExpectShare(expectation, NeobankFate::kDuplicate, options.duplicates);
  EXPECT_GT(expectation.published_again(), 20u);
}

TEST(NeobankGeneratorTest, NoSpecialRowsUnlessAskedFor) {
  NeobankOptions options = Small(20'000);
  options.duplicates = options.late = options.malformed = options.broken = options.late_retries = 0;
  options.settled = options.at_clock = options.not_completed = options.not_positive = 0;
  ASSERT_TRUE(options.Validate().ok());
  NeobankExpectation expectation(options);
  NeobankFile file;
  NeobankFiles(options, &expectation).Next(&file);
  EXPECT_EQ(expectation.count(NeobankFate::kPublished), 20'000u);
}

TEST(NeobankGeneratorTest, HardestOptionsStayInBounds) {
  NeobankOptions options = Small(20'000);
  options.duplicates = 0.3;
  options.late = 0.2;
  options.malformed = options.broken = options.late_retries = 0.1;
  options.settled = options.at_clock = 0.05;
  options.accounts = options.merchants = 1;
  options.not_completed = options.not_positive = 1;
  ASSERT_TRUE(options.Validate().ok());
  for (double rate : {0.001, 1.0, 10'000'000.0}) {
    options.events_per_second_of_event_time = rate;
    NeobankExpectation expectation(options);
    NeobankFile file;
    NeobankFiles(options, &expectation).Next(&file);
    EXPECT_EQ(expectation.events(), 20'000u);
  }
}

// Every line of a sound row is JSON with the lesson's fields; every malformed one is not, or has a wrong
// amount.
TEST(NeobankGeneratorTest, LinesAreWhatTheyClaim) {
  NeobankOptions options = Small(20'000);
  options.malformed = options.broken = 0.05;
  NeobankGenerator generator(options);
  NeobankEncoder encoder;
  NeobankEvent event;
  std::set<NeobankDefect> seen;
  char line[NeobankText::kLongestLine];
  while (generator.Next(&event)) {
    const std::string_view text(line, static_cast<size_t>(encoder.Encode(line, event) - line));
    ASSERT_EQ(text.find('\n'), text.size() - 1);
    seen.insert(event.defect);
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    switch (event.defect) {
      case NeobankDefect::kNone:
        ASSERT_TRUE(json.is_object() && json["amount"].is_number()) << text;
        for (uint8_t field : kNeobankRequiredFields)
          ASSERT_TRUE(json.contains(kNeobankFields[field])) << text;
        break;
      case NeobankDefect::kNullField:
        ASSERT_TRUE(json.at(std::string(kNeobankFields[event.broken_field])).is_null()) << text;
        break;
      case NeobankDefect::kMissingField:
        ASSERT_TRUE(json.is_object() && !json.contains(kNeobankFields[event.broken_field])) << text;
        break;
      case NeobankDefect::kAmountIsWord:
        ASSERT_TRUE(json["amount"].is_string()) << text;
        break;
      default:
        ASSERT_TRUE(json.is_discarded()) << text;
    }
  }
  EXPECT_EQ(seen.size(), 8u);
}

}  // namespace
}  // namespace caudal
