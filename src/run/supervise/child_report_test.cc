#include "run/supervise/child_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/secret.h"
#include "run/supervise/run_log.h"

namespace caudal {
namespace {

// As JSON, and quoted in the log, the value looks different.
TEST(ChildReportTest, ASecretWithAQuotationMarkStaysSecret) {
  setenv("CAUDAL_TEST_SECRET", "pa\"ss\\word", 1);
  ASSERT_TRUE(Secrets::Expand("${env:CAUDAL_TEST_SECRET}").ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ChildReport(ends[1]).Ended(Status::User("no pa\"ss\\word").At("at pa\"ss\\word").Hint("not pa\"ss\\word"),
                             false);
  char text[1024];
  const ssize_t size = read(ends[0], text, sizeof(text));
  ASSERT_GT(size, 0);
  const Status told = ChildReport::Read(std::string(text, static_cast<size_t>(size))).status;
  EXPECT_EQ(told.message(), "no ***");
  EXPECT_EQ(told.frames()[0], "at ***");
  EXPECT_EQ(told.hint(), "not ***");
  EXPECT_EQ(RunLog::Quoted("x pa\"ss\\word"), "\"x ***\"");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace caudal
