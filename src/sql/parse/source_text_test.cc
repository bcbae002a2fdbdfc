#include "sql/parse/source_text.h"

#include <gtest/gtest.h>

namespace caudal::sql {
namespace {

TEST(SourceText, PositionsCountLinesAndCodePoints) {
  const SourceText source("SELECT\n  'ä', x\r\n", "", {.offset = 0, .file = "job.sql"});
  EXPECT_EQ(source.Position({0, 6}).ToString(), "job.sql, line 1, column 1");
  EXPECT_EQ(source.Position({15, 1}).ToString(),
            "job.sql, line 2, column 8");  // x: the letter before has two bytes
  EXPECT_EQ(source.Position({15, 1}).offset, 15);
  EXPECT_EQ(source.Position({18, 0}).ToString(), "job.sql, line 3, column 1");
  EXPECT_FALSE(SqlPosition().known());
}

TEST(SourceText, ColumnsOfALongLineAreRight) {
  std::string text = "SELECT 1;\n";
  for (int i = 0; i < 2000; ++i) text += "'\xC3\xA4',";
  const SourceText source(text);
  for (const int field : {0, 1, 255, 256, 1023, 1999}) {
    const SqlPosition at = source.Position({static_cast<uint32_t>(10 + 5 * field), 1});
    EXPECT_EQ(at.column, 1 + 4 * field);
    EXPECT_EQ(at.line, 2);
  }
  EXPECT_EQ(source.Position({static_cast<uint32_t>(text.size()), 0}).column, 8001);
}

TEST(SourceText, PositionsOfAViewAreThoseOfItsScript) {
  const SourceText script("CREATE VIEW v AS SELECT a,\n b FROM t");
  const SqlPosition begin = script.Position({17, 0});
  const SourceText view("SELECT a,\n b FROM t", "view 'v',", begin);
  for (const uint32_t offset : {0u, 7u, 11u}) {
    const SqlPosition there = script.Position({17 + offset, 1}), here = view.Position({offset, 1});
    EXPECT_EQ(here.offset, there.offset);
    EXPECT_EQ(here.ToString(), there.ToString());
  }
}

}  // namespace
}  // namespace caudal::sql
