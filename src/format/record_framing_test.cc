#include "format/record_framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::ElementsAre;

// The records of `text`, given in pieces of `piece` bytes as a reader would.
std::vector<std::string> Split(RecordFraming::Kind kind, const std::string& text, size_t piece) {
  RecordFraming framing(kind);
  std::vector<std::string> records;
  std::string waiting;
  for (size_t at = 0; at <= text.size(); at += piece) {
    waiting += text.substr(at, piece);
    const bool last = at + piece > text.size();
    std::vector<std::string_view> found;
    const size_t done = framing.Split(waiting, last, &found);
    for (const std::string_view record : found) records.emplace_back(record);
    if (last) {
      EXPECT_EQ(done, waiting.size());
    }
    waiting.erase(0, done);
  }
  return records;
}

// The same however the text arrives.
std::vector<std::string> Json(const std::string& text) {
  std::vector<std::string> whole = Split(RecordFraming::Kind::kJson, text, text.size() + 1);
  for (size_t piece = 1; piece < 9; ++piece) {
    EXPECT_EQ(Split(RecordFraming::Kind::kJson, text, piece), whole) << piece;
  }
  return whole;
}

TEST(RecordFramingTest, LinesAreRecords) {
  const std::string text = "{\"a\":1}\n\n  {\"a\":2}  \r\n{\"a\":3}";
  EXPECT_THAT(Json(text), ElementsAre("{\"a\":1}", "  {\"a\":2}  ", "{\"a\":3}"));
  for (size_t piece = 1; piece < 12; ++piece) {
    EXPECT_THAT(Split(RecordFraming::Kind::kJson, text, piece),
                ElementsAre("{\"a\":1}", "  {\"a\":2}  ", "{\"a\":3}"));
  }
  // Of lines that are no JSON an empty one is data; "\r\n" is a line break, as in Flink.
  EXPECT_THAT(Split(RecordFraming::Kind::kLines, "a b\r\n\n c \r\r\nd", 3),
              ElementsAre("a b", "", " c \r", "d"));
  EXPECT_THAT(Split(RecordFraming::Kind::kLines, "\n\na\n", 2), ElementsAre("", "", "a"));
}

TEST(RecordFramingTest, ObjectsMayStretchOverLines) {
  const std::string pretty = "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": \"x}{\\\"\"\n  }\n}";
  const std::string list = "{\"a\":[\n{\"b\":1},\n{\"b\":2}\n],\n\"c\":\n{}}";
  const std::string odd = "{\"a\": {\"b\":1}\n, \"c\": 2}";
  const std::string text = pretty + "\n{\"a\":2}\n" + list + "\n" + odd + "\n" + pretty;
  for (size_t piece : {1, 7, 1000}) {
    EXPECT_THAT(Split(RecordFraming::Kind::kJson, text, static_cast<size_t>(piece)),
                ElementsAre(pretty, "{\"a\":2}", list, odd, pretty));
  }
}

TEST(RecordFramingTest, ABrokenRecordSwallowsNoneBehindIt) {
  EXPECT_THAT(Json("{\"a\":1,\n{\"a\":2}\n"), ElementsAre("{\"a\":1,", "{\"a\":2}"));
  EXPECT_THAT(Json("{\"a\":\"x\n{\"a\":2}\n"), ElementsAre("{\"a\":\"x", "{\"a\":2}"));
  EXPECT_THAT(Json("{\"a\":[1,\n{\"a\":2}\n{\"a\":3}\n"),
              ElementsAre("{\"a\":[1,", "{\"a\":2}", "{\"a\":3}"));
  EXPECT_THAT(Json("{\"a\":[1}\nrubbish\n{\"a\":3}\n"), ElementsAre("{\"a\":[1}\nrubbish", "{\"a\":3}"));
  EXPECT_THAT(Json("rubbish\n{\"a\":3}\n]\n"), ElementsAre("rubbish", "{\"a\":3}", "]"));
  EXPECT_THAT(Json("{\"a\":1}{\"a\":2}\n{\"a\":3}"), ElementsAre("{\"a\":1}{\"a\":2}", "{\"a\":3}"));
  EXPECT_THAT(Json("{\n \"a\": 1,\n\n{\n \"a\": 2\n}\n"), ElementsAre("{\n \"a\": 1,", "{\n \"a\": 2\n}"));
  EXPECT_THAT(Json("{\"a\":1"), ElementsAre("{\"a\":1"));
  EXPECT_THAT(Json("[{\"a\":1}]\n{}"), ElementsAre("[{\"a\":1}]", "{}"));
}

// They go to the dead-letter table as they are.
TEST(RecordFramingTest, ABrokenRecordKeepsItsBlanks) {
  EXPECT_THAT(Json("{\"a\": \n \t \n{\"a\":2}\n"), ElementsAre("{\"a\": \n \t ", "{\"a\":2}"));
  EXPECT_THAT(Json("{\"a\":1, \"b\": \r\n\r\n{\"a\":2}\r\n"), ElementsAre("{\"a\":1, \"b\": ", "{\"a\":2}"));
  EXPECT_THAT(Json(" \trubbish \n  \n"), ElementsAre(" \trubbish "));
  EXPECT_THAT(Json("{\"a\": "), ElementsAre("{\"a\": "));
  EXPECT_THAT(Json("  \n \t"), ElementsAre());
}

TEST(RecordFramingTest, AnObjectWithoutEndIsGivenUpAtTheLimit) {
  std::string text = "{\"a\": [\n";
  while (text.size() < RecordFraming::kMaxObjectBytes + 100) text += "1,2,3,4,\n";
  text += "{\"a\":2}\n";
  const std::vector<std::string> records = Split(RecordFraming::Kind::kJson, text, 100'000);
  EXPECT_TRUE(records.back() == "{\"a\":2}");
  size_t bytes = 0;
  for (const std::string& record : records) bytes += record.size();
  EXPECT_GT(bytes, RecordFraming::kMaxObjectBytes);
}

TEST(RecordFramingTest, NestingIsAllowedAsDeepAsTheDecoderAllowsIt) {
  std::string text = "{\"a\":\n" + std::string(1000, '[') + std::string(1000, ']') + "\n}";
  EXPECT_THAT(Json(text + "\n{}"), ElementsAre(text, "{}"));
}

TEST(RecordFramingTest, AByteOrderMarkBelongsToTheFirstRecord) {
  EXPECT_THAT(Json("\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}"), ElementsAre("\xEF\xBB\xBF{\"a\":1}", "{\"a\":2}"));
}

}  // namespace
}  // namespace caudal
