#include "drill/test_file.h"

#include <gtest/gtest.h>

#include "drill/changelog_text.h"

namespace caudal::drill {
namespace {

TEST(TestFileTest, ReadsHeaderBlocksAndExpectations) {
  const Result<TestFile> file =
      ParseTestFile("t.test",
                    "# What it proves.\noracle\nskip tiny: one row at a time is no batch\n\n"
                    "feed e split 1\na\t1\n# not a comment here\n\n"
                    "table p bounded\n----\n\n"
                    "end\n");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_TRUE(file->oracle);
  ASSERT_NE(file->skip(Mode::kTiny), nullptr);
  EXPECT_EQ(file->skip(Mode::kTiny)->reason, "one row at a time is no batch");
  ASSERT_EQ(file->blocks.size(), 3u);
  EXPECT_EQ(file->blocks[0].body.size(), 2u);
  EXPECT_FALSE(file->blocks[0].expected.has_value());
  EXPECT_TRUE(file->blocks[1].has("bounded"));
  EXPECT_TRUE(file->blocks[1].expected->empty());
  EXPECT_EQ(file->blocks[2].line, 12);
}

TEST(TestFileTest, UnknownWordIsAnErrorWithItsLine) {
  const Status status = ParseTestFile("t.test", "end\n\nfeeed e\n").status();
  EXPECT_EQ(status.message(), "'feeed' begins no block");
  EXPECT_EQ(status.frames()[0], "t.test:3");
}

TEST(TestFileTest, CellsRoundTrip) {
  EXPECT_EQ(UnescapeCell(EscapeCell("a\tb\\n\n")), "a\tb\\n\n");
  EXPECT_EQ(UnescapeCell("<EMPTY>"), "");
  EXPECT_EQ(UnescapeCell("<NULL>"), std::nullopt);
}

TEST(ChangelogTextTest, OrderCountsOnlyWithinAKey) {
  const std::vector<TextChange> changes = {{RowKind::kInsert, {"b", "1"}},
                                           {RowKind::kInsert, {"a", "1"}},
                                           {RowKind::kUpdateBefore, {"a", "1"}},
                                           {RowKind::kUpdateAfter, {"a", "2"}}};
  const std::vector<std::string> expected = {"+I\ta\t1", "-U\ta\t1", "+U\ta\t2", "+I\tb\t1"};
  EXPECT_NE(CompareChanges(expected, changes), "");
  EXPECT_EQ(CompareChangesPerKey(expected, changes, {0}), "");
  const std::vector<std::string> turned = {"-U\ta\t1", "+I\ta\t1", "+U\ta\t2", "+I\tb\t1"};
  EXPECT_NE(CompareChangesPerKey(turned, changes, {0}), "");
  EXPECT_EQ(*Fold(changes), (std::vector<std::string>{"a\t2", "b\t1"}));
  EXPECT_FALSE(Fold({{RowKind::kDelete, {"x"}}}).ok());
}

}  // namespace
}  // namespace caudal::drill
