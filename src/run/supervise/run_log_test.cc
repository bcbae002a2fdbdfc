#include "run/supervise/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace caudal {
namespace {

// As when the state folder's disk is read-only for a while and the engine starts meanwhile.
TEST(RunLogTest, GoesOnWhenItsFolderCanBeWrittenAgain) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("caudal-run-log-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  RunLog log(folder);
  log.Write("event=lost");
  std::filesystem::create_directories(folder);
  log.Write("event=kept");
  log.Write("event=too");
  std::stringstream text;
  text << std::ifstream(folder / "caudal.log").rdbuf();
  EXPECT_THAT(text.str(), ::testing::ContainsRegex("^time=.* event=kept\ntime=.* event=too\n$"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace caudal
