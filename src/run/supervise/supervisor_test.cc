#include "run/supervise/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace caudal {
namespace {

using ::testing::HasSubstr;

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest()
      : folder_(std::filesystem::temp_directory_path() / ("caudal-supervisor-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~SupervisorTest() override { std::filesystem::remove_all(folder_); }

  // A file counts the starts, for each runs in a process of its own.
  int CountStart() const {
    std::ofstream(folder_ / "starts", std::ios::app) << '.';
    return starts();
  }
  int starts() const {
    std::error_code error;
    const auto size = std::filesystem::file_size(folder_ / "starts", error);
    return error ? 0 : static_cast<int>(size);
  }

  SupervisorResult Run(const ChildMain& child, const std::string& faults = "") {
    const Result<StateLock> lock = StateLock::Take(folder_);
    EXPECT_TRUE(lock.ok()) << lock.status().ToString();
    RunLog log(folder_);
    const RestartNote note = [this](const Status& why, int64_t pause) {
      notes_.push_back(why.message() + ", after " + std::to_string(pause) + " ms");
    };
    return Supervise(child, *FaultPlan::Parse(faults), &log, *lock, "127.0.0.1:1", note);
  }
  std::string Log() const {
    std::stringstream text;
    text << std::ifstream(folder_ / "caudal.log").rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
  std::vector<std::string> notes_;
};

TEST_F(SupervisorTest, AGoodEndIsTheEnd) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    CountStart();
    report->Ended(Status(), false);
  });
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(starts(), 1);
}

TEST_F(SupervisorTest, TheChildsErrorArrivesWholeAndIsFinalWhenItIsTheUsers) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    CountStart();
    report->Ended(Status::User("no such table 't'").At("line 3").Hint("CREATE TABLE t"), true);
  });
  EXPECT_EQ(result.status.ToString(), "error[user]: no such table 't'\n  at line 3\n  hint: CREATE TABLE t");
  EXPECT_TRUE(result.before_start);
  EXPECT_EQ(starts(), 1);
}

TEST_F(SupervisorTest, AnErrorOfTheDataInARunIsFinal) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    CountStart();
    report->Progress();
    report->Ended(Status::Data("'x' is no number"), false);
  });
  EXPECT_EQ(result.status.domain(), Domain::kData);
  EXPECT_FALSE(result.before_start);
  EXPECT_EQ(starts(), 1);
}

TEST_F(SupervisorTest, ACrashIsRestarted) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    if (CountStart() == 1) raise(SIGKILL);
    report->Ended(Status(), false);
  });
  EXPECT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(starts(), 2);
  EXPECT_THAT(Log(), HasSubstr("killed by signal 9"));
  EXPECT_THAT(Log(), HasSubstr("event=restart after_ms=100 failures=1"));
  EXPECT_THAT(notes_, ::testing::ElementsAre("the engine was killed by signal 9 (Killed), after 100 ms"));
}

TEST_F(SupervisorTest, ALeaveWithoutAWordIsACrashToo) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    if (CountStart() == 1) _exit(0);
    report->Ended(Status(), false);
  });
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(starts(), 2);
}

TEST_F(SupervisorTest, TheOutsideWorldIsTriedAgainButNotBeforeTheFirstStart) {
  const SupervisorResult result = Run([&](ChildReport* report) {
    if (CountStart() == 1) return report->Ended(Status::External("disk full"), false);
    report->Ended(Status(), false);
  });
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(starts(), 2);

  std::filesystem::remove(folder_ / "starts");
  const SupervisorResult refused = Run([&](ChildReport* report) {
    CountStart();
    report->Ended(Status::External("read-only file system"), true);
  });
  EXPECT_EQ(refused.status.message(), "read-only file system");
  EXPECT_TRUE(refused.before_start);
  EXPECT_EQ(starts(), 1);
}

TEST_F(SupervisorTest, WhoRunsIsWrittenDownAndTheFolderIsHeld) {
  Run([&](ChildReport* report) {
    const bool held = !StateLock::Take(folder_).ok() && *StateLock::IsHeld(folder_);
    std::ofstream(folder_ / "seen") << held << ' ' << *StateLock::ReadDescription(folder_);
    report->Ended(Status(), false);
  });
  std::stringstream seen;
  seen << std::ifstream(folder_ / "seen").rdbuf();
  EXPECT_THAT(seen.str(), HasSubstr("1 {\"pid\": " + std::to_string(getpid())));
  EXPECT_THAT(seen.str(), HasSubstr("\"starts\": 1, \"listen\": \"127.0.0.1:1\""));
  EXPECT_FALSE(*StateLock::IsHeld(folder_));
}

TEST(FaultPlanTest, SaysWhatIsNoFault) {
  EXPECT_TRUE(FaultPlan::Parse("").ok());
  EXPECT_EQ(FaultPlan::Parse("-;sink_commit_before:crash:3")->Describe(1), "sink_commit_before:crash:3");
  EXPECT_EQ(FaultPlan::Parse("-;sink_commit_before:crash:3")->Describe(0), "-");
  EXPECT_EQ(FaultPlan::Parse("-")->Describe(7), "-");
  EXPECT_EQ(FaultPlan::Parse("nowhere:crash").status().domain(), Domain::kUser);
  EXPECT_EQ(FaultPlan::Parse("sink_commit_before:explode").status().domain(), Domain::kUser);
}

TEST(ChildReportTest, BrokenLinesAreNoEnd) {
  EXPECT_FALSE(ChildReport::Read("").ended);
  EXPECT_FALSE(ChildReport::Read("{\"progress\": true}\n{\"ended\": tr").ended);
  EXPECT_TRUE(ChildReport::Read("{\"progress\": true}\n").progressed);
}

TEST(RunLogTest, AValueStaysOnItsLine) { EXPECT_EQ(RunLog::Quoted("a \"b\"\nc"), "\"a \\\"b\\\"\\nc\""); }

}  // namespace
}  // namespace caudal
