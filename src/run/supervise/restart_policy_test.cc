#include "run/supervise/restart_policy.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

constexpr RestartPolicy::Limits kLimits = {3, 100, 1000};

TEST(RestartPolicyTest, ErrorsOfUserAndDataAreFinal) {
  RestartPolicy policy(kLimits);
  EXPECT_EQ(policy.AfterEnd(Status::User("no such table")), std::nullopt);
  EXPECT_EQ(policy.AfterEnd(Status::Data("not JSON")), std::nullopt);
  EXPECT_EQ(policy.AfterEnd(Status::External("no such host", Retry::kNo)), std::nullopt);
}

TEST(RestartPolicyTest, TheOutsideWorldIsWaitedForWithDoublingPauses) {
  RestartPolicy policy(kLimits);
  for (const int64_t pause : {100, 200, 400, 800, 1000, 1000}) {
    EXPECT_EQ(policy.AfterEnd(Status::External("disk full")), pause);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(policy.AfterEnd(Status::External("disk full")), 1000);
}

TEST(RestartPolicyTest, CaudalsOwnFaultsAreTriedAFewTimes) {
  RestartPolicy policy(kLimits);
  EXPECT_EQ(policy.AfterEnd(Status::Internal("killed by signal 11")), 100);
  EXPECT_EQ(policy.AfterEnd(Status::Internal("killed by signal 11")), 200);
  EXPECT_EQ(policy.AfterEnd(Status::Internal("killed by signal 11")), std::nullopt);
  EXPECT_EQ(policy.failures(), 3);
}

TEST(RestartPolicyTest, ProgressMakesTheCountBeginAgain) {
  RestartPolicy policy(kLimits);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(policy.AfterEnd(Status::Internal("killed by signal 9")), 100);
    policy.Progressed();
  }
}

TEST(RestartPolicyTest, AnEndWithoutErrorBeginsAgainAfterThePause) {
  RestartPolicy policy(kLimits);
  EXPECT_EQ(policy.AfterEnd(Status()), 100);
}

}  // namespace
}  // namespace caudal
