#include "base/status.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Status::Data("'" + std::to_string(n) + "' is odd");
  return n / 2;
}

Status Quarter(int n, int* out) {
  ASSIGN_OR_RETURN(int half, Half(n));
  ASSIGN_OR_RETURN(*out, Half(half));
  return Status();
}

TEST(StatusTest, PrintsMessageFramesAndHintInnermostFirst) {
  Status status = Status::Data("column 'ts': '12:61' is not a TIMESTAMP(3)");
  status = std::move(status)
               .At("kafka clicks[2]@10442, format json")
               .At("source 'clicks'")
               .Hint("look")
               .Hint("no");
  EXPECT_EQ(status.ToString(),
            "error[data]: column 'ts': '12:61' is not a TIMESTAMP(3)\n"
            "  at kafka clicks[2]@10442, format json\n"
            "  at source 'clicks'\n"
            "  hint: look");
}

TEST(StatusTest, ErrorTravelsThroughTheMacros) {
  int out = 0;
  EXPECT_TRUE(Quarter(8, &out).ok());
  EXPECT_EQ(out, 2);
  EXPECT_EQ(Quarter(6, &out).message(), "'3' is odd");
}

TEST(StatusTest, CopyIsIndependent) {
  Status a = Status::External("gone");
  Status b = a;
  b = std::move(b).At("disk");
  EXPECT_TRUE(a.frames().empty());
  EXPECT_EQ(b.frames().size(), 1u);
  EXPECT_EQ(a.retry(), Retry::kRestart);
}

}  // namespace
}  // namespace caudal
