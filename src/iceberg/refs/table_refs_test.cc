// Branches and tags: made, dropped and moved, by somebody who is not alone and does not get every answer.
#include "iceberg/refs/table_refs.h"

#include <gtest/gtest.h>

#include "iceberg/commit/token_tag.h"
#include "iceberg/maintenance/expire.h"
#include "iceberg/maintenance/table_check.h"
#include "iceberg/refs/branch_move.h"
#include "iceberg/testing/between.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

class TableRefs : public ::testing::TestWithParam<int> {
 protected:
  Result<int64_t> Create(const NewRef& made) { return CreateRef(catalog(), table_.files_, kName, made, {}); }
  Result<FastForwarded> Forward(const std::string& branch, const std::string& to) {
    return FastForward(catalog(), kName, branch, to, {});
  }
  Catalog* catalog() { return table_.catalog_.get(); }
  int64_t HeadOf(const std::string& branch) { return table_.table().FindRef(branch)->snapshot_id; }
  void ExpectWhole() {
    const auto report = CheckTable(table_.files_, table_.table(), {.all = true});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    for (const Violation& one : report->violations) ADD_FAILURE() << one.place << ": " << one.what;
  }

  SmallTable table_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Formats, TableRefs, ::testing::Values(2, 3));

TEST_P(TableRefs, ABranchIsWrittenAndMainMovesToIt) {
  const int64_t first = table_.Append(0, 10);
  ASSERT_EQ(Create({.name = "audit", .type = "branch"}).value(), first);
  const int64_t second = table_.Commit({table_.Write(10, 5, 0)}, {}, "p", "audit");
  const int64_t third = table_.Commit({table_.Write(15, 5, 0)}, {}, "p", "audit");
  EXPECT_EQ(HeadOf("main"), first);
  EXPECT_EQ(HeadOf("audit"), third);
  EXPECT_EQ(*table_.table().FindSnapshot(second)->parent_snapshot_id, first);

  const FastForwarded moved = Forward("main", "audit").value();
  EXPECT_EQ(moved.from, first);
  EXPECT_EQ(moved.to, third);
  EXPECT_EQ(moved.snapshots, 2);
  EXPECT_EQ(table_.table().current_snapshot_id, third);
  EXPECT_EQ(Forward("main", "audit").value().snapshots, 0);
  ExpectWhole();
}

TEST_P(TableRefs, AMainThatWentItsOwnWayIsNotMoved) {
  table_.Append(0, 10);
  ASSERT_TRUE(Create({.name = "audit", .type = "branch"}).ok());
  table_.Commit({table_.Write(10, 5, 0)}, {}, "p", "audit");
  const int64_t head = table_.Append(20, 5);
  const auto moved = Forward("main", "audit");
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.status().domain(), Domain::kUser);
  EXPECT_NE(moved.status().message().find("which is not in the history of 'audit'"), std::string::npos);
  EXPECT_EQ(HeadOf("main"), head);
}

TEST_P(TableRefs, ABranchThatIsNotThereBeginsWhereMainIs) {
  const int64_t first = table_.Append(0, 10);
  const int64_t second = table_.Commit({table_.Write(10, 5, 0)}, {}, "p", "audit");
  EXPECT_EQ(*table_.table().FindSnapshot(second)->parent_snapshot_id, first);
  EXPECT_EQ(HeadOf("main"), first);
  EXPECT_EQ(table_.table().FindSnapshot(second)->summary.at("total-records"), "15");
  // What the pipeline committed to 'main' is not committed again to a branch that begins there.
  const TokenFinding found = FindToken(table_.table(), "other", {"p", 1, 1, ""});
  EXPECT_EQ(found.search, TokenSearch::kFound);
  EXPECT_EQ(found.snapshot_id, first);
  ExpectWhole();
}

TEST_P(TableRefs, AnEmptyBranchHasNoRowsAndNoPast) {
  table_.Append(0, 10);
  const int64_t root = Create({.name = "rebuilt", .type = "branch", .empty = true}).value();
  EXPECT_FALSE(table_.table().FindSnapshot(root)->parent_snapshot_id);
  EXPECT_EQ(table_.table().FindSnapshot(root)->summary.at("total-records"), "0");
  const int64_t next = table_.Commit({table_.Write(10, 5, 0)}, {}, "p", "rebuilt");
  EXPECT_EQ(table_.table().FindSnapshot(next)->summary.at("total-records"), "5");
  ExpectWhole();
}

TEST_P(TableRefs, ATableWithoutSnapshotsHasABranchAndNoTag) {
  EXPECT_FALSE(Create({.name = "t", .type = "tag"}).ok());
  EXPECT_TRUE(Create({.name = "audit", .type = "branch"}).ok());
  const int64_t next = table_.Commit({table_.Write(10, 5, 0)}, {}, "p", "audit");
  EXPECT_EQ(table_.table().FindRef("main"), nullptr);
  EXPECT_EQ(Forward("main", "audit").value().to, next);
  EXPECT_EQ(table_.table().current_snapshot_id, next);
}

TEST_P(TableRefs, WhatIsRefused) {
  const int64_t first = table_.Append(0, 10);
  ASSERT_TRUE(Create({.name = "t", .type = "tag"}).ok());
  const auto refused = [](const Status& status, const std::string& what) {
    EXPECT_EQ(status.domain(), Domain::kUser);
    EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
  };
  refused(Create({.name = "t", .type = "branch"}).status(), "has a tag 't' already");
  refused(Create({.name = "x", .type = "tag", .snapshot_id = first + 1}).status(), "has no snapshot");
  refused(Create({.name = "x", .type = "tag", .from = "y"}).status(), "no branch or tag 'y'");
  refused(Create({.name = "caudal-token-1", .type = "tag"}).status(), "keeps for itself");
  refused(Create({.name = "", .type = "tag"}).status(), "needs a name");
  refused(DropRef(catalog(), kName, "branch", "t", {}), "has no branch 't'");
  refused(DropRef(catalog(), kName, "branch", "main", {}), "is not dropped");
  refused(Forward("t", "main").status(), "is a tag");
  refused(Forward("x", "main").status(), "has no branch 'x'");
  refused(Forward("main", "x").status(), "no branch or tag 'x'");
}

TEST_P(TableRefs, ExpiryKeepsWhatIsNamedAndDropsWhatIsTooOld) {
  const int64_t first = table_.Append(0, 10);
  ASSERT_TRUE(Create({.name = "kept", .type = "tag"}).ok());
  ASSERT_TRUE(Create({.name = "brief", .type = "branch", .max_ref_age_ms = 1000}).ok());
  table_.Append(10, 10);
  table_.Append(20, 10);
  const auto report =
      ExpireSnapshots(catalog(), table_.files_, kName, {.policy = {.max_snapshot_age_ms = 1}});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->plan.refs, std::vector<std::string>{"brief"});
  EXPECT_NE(table_.table().FindSnapshot(first), nullptr);
  ASSERT_TRUE(DropRef(catalog(), kName, "tag", "kept", {}).ok());
  ASSERT_TRUE(ExpireSnapshots(catalog(), table_.files_, kName, {.policy = {.max_snapshot_age_ms = 1}}).ok());
  EXPECT_EQ(table_.table().FindSnapshot(first), nullptr);
  ExpectWhole();
}

// The newest epoch of a query lies behind a gap of the branch: once 'main' is there it is found from 'main'.
TEST_P(TableRefs, TokensBehindAGapComeAlong) {
  table_.Append(0, 10, 0, "other");
  ASSERT_TRUE(Create({.name = "audit", .type = "branch"}).ok());
  table_.Commit({table_.Write(10, 5, 0)}, {}, "mine", "audit");
  const int64_t epoch = table_.epoch();
  ASSERT_EQ(Forward("main", "audit").value().snapshots, 1);
  table_.Commit({table_.Write(20, 5, 0)}, {}, "other", "audit");
  table_.Commit({table_.Write(30, 5, 0)}, {}, "other", "audit");
  ASSERT_TRUE(DropRef(catalog(), kName, "branch", "audit", {}).ok());
  ASSERT_TRUE(Create({.name = "audit", .type = "branch"}).ok());
  for (int64_t first = 40; first < 70; first += 10)
    table_.Commit({table_.Write(first, 5, 0)}, {}, "other", "audit");
  ASSERT_TRUE(Forward("main", "audit").ok());
  const auto expire = [&] {
    return ExpireSnapshots(catalog(), table_.files_, kName, {.policy = {.max_snapshot_age_ms = 1}}).ok();
  };
  ASSERT_TRUE(expire());
  for (const char* made : {"second", "third"}) {
    ASSERT_TRUE(Create({.name = made, .type = "branch"}).ok());
    EXPECT_EQ(FindToken(table_.table(), made, {"mine", 1, epoch, ""}).search, TokenSearch::kFound) << made;
  }
  table_.Commit({table_.Write(90, 5, 0)}, {}, "other", "third");
  ASSERT_TRUE(Forward("main", "third").ok());
  EXPECT_EQ(FindToken(table_.table(), "main", {"mine", 1, epoch, ""}).search, TokenSearch::kFound);
  ExpectWhole();
}

// A history that 'main' did not begin takes its place, and gives it back; expiry between does not take what
// the way back needs, nor the tokens of who goes on there.
TEST_P(TableRefs, MainIsSetToAnotherHistoryAndBack) {
  table_.Append(0, 10, 0, "live");
  const int64_t epoch = table_.epoch();
  table_.Append(10, 10, 0, "other");
  const int64_t before = table_.Append(20, 10, 0, "other");
  ASSERT_TRUE(Create({.name = "rebuilt", .type = "branch", .empty = true}).ok());
  const int64_t rebuilt = table_.Commit({table_.Write(100, 5, 0)}, {}, "anew", "rebuilt");
  const int64_t now = table_.env_.NowMillis();
  BranchMove there{.branch = "main", .from = before, .to = "rebuilt", .to_snapshot = rebuilt};
  there.kept_as = "left";
  there.kept_until_ms = now + 3'600'000;
  there.drop_to = true;

  BranchMove wrong = there;
  wrong.from = rebuilt + 1;
  EXPECT_EQ(MoveBranch(catalog(), kName, wrong, {}).domain(), Domain::kUser);
  wrong = there;
  wrong.to_snapshot = before + 1;
  EXPECT_EQ(MoveBranch(catalog(), kName, wrong, {}).domain(), Domain::kUser);
  EXPECT_EQ(HeadOf("main"), before);

  for (int time = 0; time < 2; ++time) {  // the second finds it done
    const Status moved = MoveBranch(catalog(), kName, there, {});
    ASSERT_TRUE(moved.ok()) << moved.ToString();
    EXPECT_EQ(HeadOf("main"), rebuilt);
    EXPECT_EQ(HeadOf("left"), before);
    EXPECT_EQ(table_.table().FindRef("rebuilt"), nullptr);
  }
  const auto expire = [&] {
    return ExpireSnapshots(catalog(), table_.files_, kName, {.policy = {.max_snapshot_age_ms = 1}}).ok();
  };
  ASSERT_TRUE(expire());
  ExpectWhole();
  BranchMove back{.branch = "main", .from = rebuilt, .to = "left", .to_snapshot = before};
  back.drop_to = true;
  ASSERT_TRUE(MoveBranch(catalog(), kName, back, {}).ok());
  EXPECT_EQ(HeadOf("main"), before);
  EXPECT_EQ(FindToken(table_.table(), "main", {"live", 1, epoch, ""}).search, TokenSearch::kFound);
  ASSERT_TRUE(expire());
  EXPECT_EQ(table_.table().FindSnapshot(rebuilt), nullptr);
  ExpectWhole();
}

// What was looked at is what is moved to, and nothing that comes meanwhile.
TEST_P(TableRefs, AFastForwardTakesNothingThatWasCommittedMeanwhile) {
  const int64_t before = table_.Append(0, 10);
  ASSERT_TRUE(Create({.name = "audit", .type = "branch"}).ok());
  const int64_t seen = table_.Commit({table_.Write(100, 5, 0)}, {}, "p", "audit");
  Between between(&table_);
  between.before = [&] {
    if (between.commits == 1) table_.Commit({table_.Write(200, 5, 0)}, {}, "p", "audit");
  };
  const Status moved = FastForward(&between, kName, "main", "audit", {}).status();
  EXPECT_EQ(moved.domain(), Domain::kUser);
  EXPECT_NE(moved.message().find("was committed to meanwhile"), std::string::npos) << moved.ToString();
  EXPECT_EQ(HeadOf("main"), before);
  ASSERT_TRUE(Create({.name = "seen", .type = "tag", .snapshot_id = seen}).ok());
  EXPECT_EQ(Forward("main", "seen").value().to, seen);
}

// Whoever says it again behind a kill may come late: others go on with the branch.
TEST_P(TableRefs, AMoveIsKnownByItsHistoryOnceOthersHaveCommitted) {
  const int64_t before = table_.Append(0, 10);
  ASSERT_TRUE(Create({.name = "rebuilt", .type = "branch", .empty = true}).ok());
  const int64_t rebuilt = table_.Commit({table_.Write(100, 5, 0)}, {}, "anew", "rebuilt");
  const BranchMove there{
      .branch = "main", .from = before, .to = "rebuilt", .to_snapshot = rebuilt, .drop_to = true};
  ASSERT_TRUE(MoveBranch(catalog(), kName, there, {}).ok());
  const int64_t later = table_.Append(20, 10);
  bool never = true;
  EXPECT_TRUE(MoveBranch(catalog(), kName, there, {}, &never).ok());
  EXPECT_FALSE(never);
  EXPECT_EQ(HeadOf("main"), later);
  // From where 'main' is not, to where it never was.
  ASSERT_TRUE(Create({.name = "other", .type = "branch", .empty = true}).ok());
  const BranchMove lost{.branch = "main", .from = before, .to = "other", .to_snapshot = HeadOf("other")};
  EXPECT_EQ(MoveBranch(catalog(), kName, lost, {}, &never).domain(), Domain::kUser);
  EXPECT_TRUE(never);
}

// Its time is counted from the move, not from the snapshot.
TEST_P(TableRefs, WhatIsLeftExpiresOnceItsTimeIsOver) {
  const int64_t before = table_.Append(0, 10);
  table_.env_.Advance(int64_t{100} * SmallTable::kMinute);
  ASSERT_TRUE(Create({.name = "rebuilt", .type = "branch", .empty = true}).ok());
  BranchMove there{.branch = "main", .from = before, .to = "rebuilt", .to_snapshot = HeadOf("rebuilt")};
  there.kept_as = "left";
  there.kept_until_ms = table_.env_.NowMillis() + int64_t{10} * 60'000;
  ASSERT_TRUE(MoveBranch(catalog(), kName, there, {}).ok());
  const auto expire = [&] {
    return ExpireSnapshots(catalog(), table_.files_, kName, {.policy = {.max_snapshot_age_ms = 1}}).ok();
  };
  table_.env_.Advance(int64_t{9} * SmallTable::kMinute);
  ASSERT_TRUE(expire());
  EXPECT_NE(table_.table().FindSnapshot(before), nullptr);
  table_.env_.Advance(int64_t{2} * SmallTable::kMinute);
  ASSERT_TRUE(expire());
  EXPECT_EQ(table_.table().FindSnapshot(before), nullptr);
}

// Answers are lost, requests come late, what is read is old: a ref is there or it is not, and the call says
// so.
TEST(TableRefsOverABadNetwork, WhatTheCallSaysIsWhatTheTableShows) {
  int created = 0, failed = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    ManualEnv env(1'700'000'000'000'000, seed);
    MemoryFileSystem memory(&env);
    TableFiles files(&memory, &env);
    BadCatalog catalog(&files, seed);
    ASSERT_TRUE(catalog.CreateTable(kName, Definition(3)).ok());
    const auto made = CreateRef(&catalog, files, kName, {.name = "b", .type = "branch", .empty = true}, {});
    if (!made.ok()) {
      EXPECT_EQ(made.status().domain(), Domain::kExternal) << made.status().ToString();
      ++failed;
      continue;
    }
    ++created;
    const TableMetadata now = catalog.table();
    const SnapshotRef* ref = now.FindRef("b");
    ASSERT_NE(ref, nullptr) << seed;
    EXPECT_EQ(ref->snapshot_id, *made) << seed;
    EXPECT_TRUE(files.Read(now.FindSnapshot(*made)->manifest_list).ok()) << seed;
    const auto dropped = DropRef(&catalog, kName, "branch", "b", {});
    const bool there = catalog.table().FindRef("b") != nullptr;
    EXPECT_FALSE(dropped.ok() && there) << seed;
  }
  EXPECT_GT(created, 200);
  RecordProperty("failed", failed);
}

}  // namespace
}  // namespace caudal::iceberg
