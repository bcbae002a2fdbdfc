// What expires, what stays whatever its age, and which files go.
#include "iceberg/maintenance/expire.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "iceberg/commit/token_tag.h"
#include "iceberg/maintenance/table_check.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int64_t>;

class ExpireTest : public testing::TestWithParam<int> {
 protected:
  ExpireTest() : small_(GetParam()) {}

  // Everything but the heads is old.
  ExpireReport Expire(ExpireOptions options = {.policy = {.max_snapshot_age_ms = 0}}) {
    small_.env_.Advance(SmallTable::kMinute);
    auto report = ExpireSnapshots(small_.catalog_.get(), small_.files_, kName, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? std::move(report).value() : ExpireReport();
  }
  Ids Left() {
    Ids ids;
    const TableMetadata table = small_.table();
    for (const Snapshot& snapshot : table.snapshots) ids.push_back(snapshot.snapshot_id);
    return ids;
  }
  void SetRef(const std::string& name, SnapshotRef ref) {
    TableCommit commit;
    commit.updates = {SetSnapshotRef{name, ref}};
    EXPECT_EQ(small_.catalog_->Commit(kName, commit).outcome, CommitOutcome::kDone);
  }
  void SetProperty(const std::string& name, const std::string& value) {
    TableCommit commit;
    commit.updates = {SetProperties{{{name, value}}}};
    EXPECT_EQ(small_.catalog_->Commit(kName, commit).outcome, CommitOutcome::kDone);
  }
  bool Exists(const std::string& path) { return small_.memory_.Exists(path).value(); }
  void CheckWhole() {
    const auto report = CheckTable(small_.files_, small_.table(), {.all = true});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->violations, std::vector<Violation>());
  }
  TokenSearch Search(const std::string& pipeline, int64_t epoch, const std::string& branch = "main") {
    return FindToken(small_.table(), branch, {pipeline, 1, epoch, ""}).search;
  }

  SmallTable small_;
};
INSTANTIATE_TEST_SUITE_P(Formats, ExpireTest, testing::Values(2, 3));

TEST_P(ExpireTest, FilesGoThatNoSnapshotHas) {
  const DataFile a = small_.Write(0, 10, 0), b = small_.Write(100, 10, 0);
  small_.Commit({a, b});
  small_.Commit({}, {{a.file_path, {3}}});
  small_.Commit({}, {{a.file_path, {4}}});
  const int64_t last = small_.Append(200, 5);
  const TableMetadata before = small_.table();
  const ExpireReport dry = Expire({.policy = {.max_snapshot_age_ms = 0}, .dry = true});
  EXPECT_EQ(Left().size(), 4u) << "nothing but said";
  const ExpireReport report = Expire();
  EXPECT_EQ(report.files, dry.files);
  EXPECT_EQ(report.plan.snapshots.size(), 3u);
  EXPECT_EQ(report.stuck, std::vector<std::string>());
  EXPECT_EQ(Left(), Ids{last});
  for (const Snapshot& snapshot : before.snapshots)
    EXPECT_EQ(Exists(snapshot.manifest_list), snapshot.snapshot_id == last);
  EXPECT_TRUE(Exists(a.file_path) && Exists(b.file_path)) << "they are live";
  // In format 3 the first vector was replaced by the second; in format 2 both files of deletes are live.
  const auto gone = [](const std::string& file) { return file.ends_with("-deletes.puffin"); };
  EXPECT_EQ(std::count_if(report.files.begin(), report.files.end(), gone), GetParam() == 3 ? 1 : 0);
  CheckWhole();
  EXPECT_TRUE(Expire().plan.empty()) << "nothing is left to do";
}

TEST_P(ExpireTest, ThePolicyIsTheCommandsThenTheRefsThenTheTables) {
  for (int64_t i = 0; i < 6; ++i) small_.Append(10 * i, 5);
  const Ids all = Left();
  EXPECT_TRUE(Expire({}).plan.empty()) << "five days are not over";
  SetProperty("history.expire.max-snapshot-age-ms", "1");
  SetProperty("history.expire.min-snapshots-to-keep", "4");
  SetRef("main", {.snapshot_id = all[5], .type = "branch", .min_snapshots_to_keep = 5});
  EXPECT_EQ(Expire({}).plan.snapshots, Ids({all[0]}));
  SetRef("main", {.snapshot_id = all[5], .type = "branch"});
  EXPECT_EQ(Expire({}).plan.snapshots, Ids({all[1]}));
  EXPECT_EQ(Expire({.policy = {.min_snapshots_to_keep = 2}}).plan.snapshots, Ids({all[2], all[3]}));
  CheckWhole();
  EXPECT_EQ(small_.table().snapshot_log.size(), 2u);
}

TEST_P(ExpireTest, WhatRefsAreAtStays) {
  for (int64_t i = 0; i < 5; ++i) small_.Append(10 * i, 5);
  const Ids all = Left();
  SetRef("audit", {.snapshot_id = all[1], .type = "branch", .min_snapshots_to_keep = 2});
  SetRef("year", {.snapshot_id = all[2], .type = "tag"});
  SetRef("old", {.snapshot_id = all[3], .type = "tag", .max_ref_age_ms = 1});
  const ExpireReport report =
      Expire({.policy = {.max_snapshot_age_ms = 0, .min_snapshots_to_keep = std::nullopt}});
  EXPECT_EQ(report.plan.snapshots, Ids({all[3]}));
  EXPECT_EQ(report.plan.refs, std::vector<std::string>{"old"});
  EXPECT_EQ(Left(), Ids({all[0], all[1], all[2], all[4]}));
  CheckWhole();
}

TEST_P(ExpireTest, TheNewestTokenOfEveryPipelineIsFoundBehindTheGap) {
  small_.Append(0, 5, 0, "stopped");
  const int64_t epoch = small_.epoch();
  small_.Append(10, 5, 0, "stopped");
  for (int64_t i = 2; i < 6; ++i) small_.Append(10 * i, 5, 0, "running");
  const Ids all = Left();
  EXPECT_EQ(Expire().plan.tags.size(), 1u);
  EXPECT_EQ(Left(), Ids({all[1], all[5]}));
  EXPECT_EQ(Search("stopped", epoch), TokenSearch::kSuperseded);
  EXPECT_EQ(Search("stopped", epoch + 1), TokenSearch::kFound);
  EXPECT_EQ(Search("stopped", epoch + 2), TokenSearch::kAbsent);
  EXPECT_EQ(Search("running", small_.epoch()), TokenSearch::kFound);
  TableMetadata branched = small_.table();
  branched.refs["other"] = *branched.FindRef("main");
  EXPECT_EQ(FindToken(branched, "other", {"stopped", 1, epoch + 1, ""}).search, TokenSearch::kAbsent)
      << "of this branch alone";
  CheckWhole();
  // It is kept the next time too, and told by a newer one once the pipeline goes on.
  small_.Append(60, 5, 0, "running");
  Expire();
  EXPECT_EQ(Search("stopped", epoch + 1), TokenSearch::kFound);
  small_.Append(70, 5, 0, "stopped");
  EXPECT_THAT(Expire().plan.refs, testing::ElementsAre(TokenTagName("main", "stopped")));
  EXPECT_EQ(Search("stopped", small_.epoch()), TokenSearch::kFound);
  EXPECT_EQ(Search("running", small_.epoch() - 1), TokenSearch::kFound);
  CheckWhole();
}

TEST_P(ExpireTest, WhatRanOnceIsAskedForByNobody) {
  int64_t number = 0;
  for (const std::string pipeline : {"a", "b", "c"}) {
    const DataFile file = small_.Write(10 * number++, 5, 0);
    const auto append = PrepareAppend(small_.files_, small_.table(), 0, {file}).value();
    AppendOptions options;
    options.summary = {{kOnceKey, "true"}};
    ASSERT_TRUE(
        CommitAppend(small_.catalog_.get(), small_.files_, kName, append, {pipeline, 1, 1, ""}, options)
            .ok());
    small_.env_.Advance(SmallTable::kMinute);
  }
  EXPECT_EQ(Expire().plan.snapshots.size(), 2u);
  EXPECT_EQ(small_.table().refs.size(), 1u) << "no tag was needed";
}

TEST_P(ExpireTest, ATagOfAHistoryThatTheBranchWasSetBackFromSaysNothing) {
  small_.Append(0, 5, 0, "a");
  small_.Append(10, 5, 0, "b");
  small_.Append(20, 5, 0, "c");
  const Ids all = Left();
  SetRef(TokenTagName("main", "b"), {.snapshot_id = all[1], .type = "tag"});
  EXPECT_EQ(Search("b", small_.epoch() - 1), TokenSearch::kFound);
  SetRef("main", {.snapshot_id = all[0], .type = "branch"});
  EXPECT_EQ(Search("b", small_.epoch() - 1), TokenSearch::kAbsent);
}

TEST_P(ExpireTest, ATableMayForbidIt) {
  small_.Append(0, 5);
  SetProperty("gc.enabled", "false");
  const auto report = ExpireSnapshots(small_.catalog_.get(), small_.files_, kName, {});
  EXPECT_THAT(report.status().message(), HasSubstr("'gc.enabled' = 'false'"));
}

// A branch that is too old, with two snapshots and a file each: `first` and `second`.
class ExpireSideTest : public ExpireTest {
 protected:
  ExpireSideTest() {
    head_ = small_.Append(0, 5);
    SetRef("side", {.snapshot_id = head_, .type = "branch"});
    small_.Commit({first_}, {}, "p", "side");
    const int64_t last = small_.Commit({second_}, {}, "p", "side");
    SetRef("side", {.snapshot_id = last, .type = "branch", .max_ref_age_ms = 1});
    last_ = *small_.table().FindSnapshot(last);
  }
  // The one that came with the snapshot's parent.
  std::string ManifestOfFirst() {
    const std::string list = small_.files_.Read(last_.manifest_list).value();
    const auto manifests = ReadManifestList(list, last_.manifest_list).value();
    for (const ManifestFile& one : manifests) {
      if (one.added_snapshot_id == *last_.parent_snapshot_id) return one.manifest_path;
    }
    return "";
  }

  const DataFile first_ = small_.Write(100, 5, 0), second_ = small_.Write(200, 5, 0);
  int64_t head_ = 0;
  Snapshot last_;
};
INSTANTIATE_TEST_SUITE_P(Formats, ExpireSideTest, testing::Values(2, 3));

TEST_P(ExpireSideTest, WhatCannotBeReadOfWhatExpiresKeepsNothingElse) {
  const std::string manifest = ManifestOfFirst();
  ASSERT_TRUE(small_.memory_.Remove(manifest).ok());
  const std::string list = small_.table().FindSnapshot(*last_.parent_snapshot_id)->manifest_list;
  small_.memory_.Overwrite(list, "damaged");
  const ExpireReport dry = Expire({.policy = {.max_snapshot_age_ms = 0}, .dry = true});
  const ExpireReport report = Expire();
  EXPECT_EQ(report.files, dry.files);
  EXPECT_EQ(report.unread, dry.unread);
  EXPECT_THAT(report.unread, testing::UnorderedElementsAre(manifest, list));
  EXPECT_EQ(Left(), Ids{head_});
  EXPECT_FALSE(Exists(second_.file_path) || Exists(last_.manifest_list) || Exists(list));
  EXPECT_TRUE(Exists(first_.file_path)) << "nobody knows of it";
  CheckWhole();
}

TEST_P(ExpireSideTest, WhatCannotBeReadOfWhatStaysIsARefusalBeforeAnythingGoes) {
  const std::string list = small_.table().FindSnapshot(head_)->manifest_list;
  ASSERT_TRUE(small_.memory_.Remove(list).ok());
  const auto report =
      ExpireSnapshots(small_.catalog_.get(), small_.files_, kName, {.policy = {.max_snapshot_age_ms = 0}});
  EXPECT_THAT(report.status().ToString(), HasSubstr(list));
  EXPECT_EQ(Left().size(), 3u);
}

// Passes everything on, except for what it is told to lose.
class LossyCatalog : public Catalog {
 public:
  explicit LossyCatalog(Catalog* catalog) : catalog_(catalog) {}
  Status CreateNamespace(const std::vector<std::string>& space) override {
    return catalog_->CreateNamespace(space);
  }
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override {
    return catalog_->ListNamespaces();
  }
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>& space) override {
    return catalog_->ListTables(space);
  }
  Result<LoadedTable> CreateTable(const TableName& name, const NewTable& table) override {
    return catalog_->CreateTable(name, table);
  }
  Status DropTable(const TableName& name) override { return catalog_->DropTable(name); }
  Result<LoadedTable> LoadTable(const TableName& name) override {
    if (lose_load_ && commits_ > 0) {
      lose_load_ = false;
      return Status::External("no answer", Retry::kBackoff);
    }
    return catalog_->LoadTable(name);
  }
  CommitAnswer Commit(const TableName& name, const TableCommit& commit) override {
    ++commits_;
    if (lose_commit_) {
      lose_commit_ = false;
      return {CommitOutcome::kUnknown, Status::External("busy", Retry::kBackoff), {}};
    }
    return catalog_->Commit(name, commit);
  }

  bool lose_commit_ = false;  // the first never arrives
  bool lose_load_ = false;    // the first after a commit is not answered
  int commits_ = 0;

 private:
  Catalog* catalog_;
};

TEST_P(ExpireSideTest, FilesGoThoughTheTableIsNotSeenAtOnceBehindTheCommit) {
  const ExpireReport dry = Expire({.policy = {.max_snapshot_age_ms = 0}, .dry = true});
  LossyCatalog lossy(small_.catalog_.get());
  lossy.lose_load_ = true;
  const auto report = ExpireSnapshots(&lossy, small_.files_, kName, {.policy = {.max_snapshot_age_ms = 0}});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->files, dry.files);
  EXPECT_EQ(report->plan.snapshots, dry.plan.snapshots);
  EXPECT_EQ(report->plan.refs, std::vector<std::string>{"side"});
  EXPECT_FALSE(Exists(second_.file_path));
  EXPECT_EQ(lossy.commits_, 1);
}

TEST_P(ExpireTest, ARefAloneIsGoneOnlyWhenTheCatalogShowsIt) {
  const int64_t head = small_.Append(0, 5);
  SetRef("old", {.snapshot_id = head, .type = "tag", .max_ref_age_ms = 1});
  LossyCatalog lossy(small_.catalog_.get());
  lossy.lose_commit_ = true;
  const auto report = ExpireSnapshots(&lossy, small_.files_, kName, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->plan.refs, std::vector<std::string>{"old"});
  EXPECT_EQ(small_.table().FindRef("old"), nullptr);
  EXPECT_EQ(lossy.commits_, 2);
}

// A bad network between: snapshots go, and never a file of one that is left.
TEST(ExpireSimulation, NoFileGoesThatASnapshotHas) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    ManualEnv env(1'000'000, seed);
    MemoryFileSystem memory(&env);
    TableFiles files(&memory, &env);
    BadCatalog catalog(&files, seed);
    ASSERT_TRUE(catalog.CreateTable(kName, Definition(3)).ok());
    std::set<std::string> committed;
    const auto append = [&](const std::string& path, const std::string& pipeline, int epoch) {
      ASSERT_TRUE(files.Write(path, std::string(50, 'x')).ok());
      const auto prepared = PrepareAppend(files, catalog.table(), 0, {File(path, 5)}).value();
      for (int tries = 0; tries < 100; ++tries) {
        const auto outcome = CommitAppend(&catalog, files, kName, prepared, {pipeline, 1, epoch, ""}, {});
        if (outcome.ok()) return void(committed.insert(path));
        // A list that expired under a stale reading is no longer there.
        ASSERT_EQ(outcome.status().domain(), Domain::kExternal) << outcome.status().ToString();
      }
      FAIL() << "no end";
    };
    for (int epoch = 1; epoch <= 8; ++epoch) {
      append("/d/" + std::to_string(epoch), "p", epoch);
      env.Advance(10'000);
      catalog.meanwhile = [&, epoch] { append("/d/m" + std::to_string(epoch), "q", epoch); };
      const auto report = ExpireSnapshots(&catalog, files, kName, {.policy = {.max_snapshot_age_ms = 0}});
      ASSERT_TRUE(report.ok() || report.status().domain() == Domain::kExternal) << report.status().ToString();
      catalog.meanwhile = nullptr;
    }
    catalog.Deliver();
    TableMetadata table = catalog.table();
    table.last_partition_id = kFirstPartitionFieldId;  // which the catalog of tests does not count
    const auto report = CheckTable(files, table, {.all = true, .files = false});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    for (const Violation& one : report->violations)
      FAIL() << "seed " << seed << ": " << one.place << ": " << one.what;
    std::set<std::string> live;
    for (const ManifestEntry& entry : EntriesOf(files, *table.FindSnapshot(*table.current_snapshot_id)))
      live.insert(entry.file.file_path);
    for (const std::string& path : committed) {
      ASSERT_TRUE(live.contains(path)) << "seed " << seed;
      ASSERT_TRUE(memory.Exists(path).value()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace caudal::iceberg
