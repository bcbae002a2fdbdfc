#include "state/checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/fault_point.h"
#include "fs/memory_file_system.h"
#include "fs/scheme_file_system.h"

namespace caudal {
namespace {

class CheckpointStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<CheckpointStore> Open(const std::string& query = "p/q") {
    auto store = CheckpointStore::Open(&env_, &files_, "state", query);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return std::move(*store);
  }
  // A manifest with one segment file of one table.
  Status Commit(CheckpointStore& store, int64_t number, const std::string& records = "records") {
    std::vector<SegmentRef> segments(1);
    segments[0].table = "keys";
    RETURN_IF_ERROR(store.WriteSegment(number, 1, {records}, {&segments[0]}));
    return Commit(store, number, segments);
  }
  Status Commit(CheckpointStore& store, int64_t number, const std::vector<SegmentRef>& segments) {
    Manifest manifest;
    manifest.identity = store.identity();
    manifest.query = "p/q";
    manifest.epoch = {store.generation(), number};
    NodeState node;
    node.id = "dedup/1";
    node.segments = segments;
    manifest.nodes = {node};
    return store.CreateManifest(manifest);
  }

  ManualEnv env_;
  MemoryFileSystem files_{&env_};
};

TEST_F(CheckpointStoreTest, RestoresTheNewest) {
  auto first = Open();
  ASSERT_FALSE(first->Restore()->has_value());
  ASSERT_TRUE(Commit(*first, 1, "a").ok());
  ASSERT_TRUE(Commit(*first, 2, "b").ok());
  auto second = Open();
  EXPECT_EQ(second->generation(), 2);
  auto restored = second->Restore();
  ASSERT_TRUE(restored.ok() && restored->has_value());
  EXPECT_EQ((*restored)->manifest.epoch, (Epoch{1, 2}));
  EXPECT_EQ((*restored)->segments[0][0], "b");
}

TEST_F(CheckpointStoreTest, AStartRemovesWhatACrashLeftHalfMade) {
  auto first = Open();
  ASSERT_TRUE(first->Restore().ok());
  ASSERT_TRUE(Commit(*first, 1).ok());
  const std::string half = "state/.manifest-1-2.4711-6.tmp";
  ASSERT_TRUE(*files_.CreateIfAbsent(half, "CDLM"));
  auto second = Open();
  ASSERT_TRUE(second->Restore().ok());
  EXPECT_FALSE(*files_.Exists(half));
  EXPECT_TRUE(*files_.Exists("state/manifest-1-1"));
}

// An object store gives an answer up to some size and in some time; a full snapshot has no such bounds.
class AnswersInPieces : public SchemeFileSystem {
 public:
  explicit AnswersInPieces(Env* env) : SchemeFileSystem(&memory_, {}), memory_(env) {}
  static constexpr int64_t kMost = int64_t{32} << 20;

  Result<std::string> ReadAll(const std::string& path) override {
    ASSIGN_OR_RETURN(const FileInfo file, Stat(path));
    if (file.size > kMost) return Status::External("an answer of such a size never arrives", Retry::kBackoff);
    return memory_.ReadAll(path);
  }
  Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) override {
    ASSIGN_OR_RETURN(auto file, memory_.Open(path));
    return std::unique_ptr<RandomAccessFile>(new Opened(std::move(file)));
  }

 private:
  class Opened : public RandomAccessFile {
   public:
    explicit Opened(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
    Result<MutableBufferPtr> Read(int64_t offset, int64_t length) override {
      if (length > kMost) return Status::External("an answer of such a size never arrives", Retry::kBackoff);
      return file_->Read(offset, length);
    }
    int64_t size() const override { return file_->size(); }

   private:
    std::unique_ptr<RandomAccessFile> file_;
  };
  MemoryFileSystem memory_;
};

TEST_F(CheckpointStoreTest, ASegmentOfAnySizeIsRead) {
  AnswersInPieces files(&env_);
  std::string records(70 << 20, 'r');
  records[40 << 20] = 's';
  auto store = std::move(CheckpointStore::Open(&env_, &files, "state", "p/q")).value();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1, records).ok());
  auto again = std::move(CheckpointStore::Open(&env_, &files, "state", "p/q")).value();
  auto restored = again->Restore();
  ASSERT_TRUE(restored.ok()) << restored.status().ToString();
  EXPECT_TRUE((*restored)->segments[0][0] == records);
}

// Files in memory, and uploads of which nobody will hear again.
class StoreWithUploads : public SchemeFileSystem, public PendingFiles {
 public:
  explicit StoreWithUploads(Env* env) : SchemeFileSystem(&memory_, {{"s3", &memory_}}), memory_(env) {}

  PendingFiles* pending(const std::string&) override { return this; }
  Result<std::unique_ptr<PendingFile>> Begin(const std::string&) override { return Status::Internal("none"); }
  Result<PublishOutcome> Publish(const std::string&, const std::string&) override {
    return PublishOutcome::kGone;
  }
  Result<std::vector<UnpublishedFile>> ListUnpublished(const std::string& folder) override {
    if (refuses) return Status::External("403 AccessDenied", Retry::kBackoff);
    std::vector<UnpublishedFile> found;
    for (const std::string& path : uploads) {
      if (path.starts_with(folder + "/")) found.push_back({path, "upload"});
    }
    return found;
  }
  Status Abort(const UnpublishedFile& file) override {
    uploads.erase(file.path);
    return Status();
  }
  std::set<std::string> uploads;
  bool refuses = false;

 private:
  MemoryFileSystem memory_;
};

TEST_F(CheckpointStoreTest, AStartGivesUpTheSegmentsThatAKilledOneBegan) {
  StoreWithUploads files(&env_);
  const auto start = [&] {
    auto store = std::move(CheckpointStore::Open(&env_, &files, "s3://b/state", "p/q")).value();
    EXPECT_TRUE(store->Restore().ok());
    return store->generation();
  };
  ASSERT_EQ(start(), 1);
  const std::set<std::string> others = {"s3://b/state/segment-3-1", "s3://b/other/segment-1-1"};
  files.uploads = others;
  files.uploads.insert("s3://b/state/segment-1-7");
  ASSERT_EQ(start(), 2);
  EXPECT_EQ(files.uploads, others) << "a newer start's own, or another query's";
  files.refuses = true;
  EXPECT_EQ(start(), 3) << "whoever may not list them goes on without";
}

TEST_F(CheckpointStoreTest, AZombieCannotCommit) {
  auto zombie = Open();
  ASSERT_TRUE(zombie->Restore().ok());
  ASSERT_TRUE(Commit(*zombie, 1).ok());
  auto owner = Open();
  ASSERT_TRUE(owner->Restore().ok());
  const Status status = Commit(*zombie, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.domain(), Domain::kUser);
  EXPECT_TRUE(Commit(*owner, 2).ok());
}

// The window between looking for a newer generation and making the manifest: only the taken name helps.
TEST_F(CheckpointStoreTest, AZombiePastItsCheckFindsTheNameTaken) {
  auto zombie = Open();
  ASSERT_TRUE(zombie->Restore().ok());
  ASSERT_TRUE(Commit(*zombie, 1).ok());
  auto owner = Open();
  ASSERT_TRUE(owner->Restore().ok());
  ASSERT_TRUE(files_.Remove("state/generation-2").ok());
  EXPECT_FALSE(Commit(*zombie, 2).ok());
}

TEST_F(CheckpointStoreTest, AGenerationThatNeverBeganIsClosedToo) {
  auto slow = Open();
  auto owner = Open();
  ASSERT_TRUE(owner->Restore().ok());
  EXPECT_FALSE(slow->Restore().ok());
}

// A query that was started every minute had a hundred thousand files in its folder after a month.
TEST_F(CheckpointStoreTest, ManyStartsLeaveAFewNames) {
  auto zombie = Open();
  ASSERT_TRUE(zombie->Restore().ok());
  ASSERT_TRUE(Commit(*zombie, 1).ok());
  for (int start = 0; start < 300; ++start) {
    auto store = Open();
    // Some end before they begin, some before they commit.
    if (start % 3 == 0) continue;
    ASSERT_TRUE(store->Restore()->has_value());
    if (start % 3 == 1) continue;
    ASSERT_TRUE(Commit(*store, start + 2).ok());
    ASSERT_TRUE(store->Retain(2).ok());
  }
  EXPECT_LT(files_.List("state")->size(), 4u * CheckpointStore::kKeptGenerations);
  EXPECT_FALSE(Commit(*zombie, 2).ok());
  auto last = Open();
  EXPECT_EQ((*last->Restore())->manifest.epoch.number, 301);
}

// While the outside refuses, each try to start is a generation, and what can be restored is older than all.
TEST_F(CheckpointStoreTest, WhatCanBeRestoredKeepsItsNames) {
  auto zombie = Open();
  ASSERT_TRUE(zombie->Restore().ok());
  ASSERT_TRUE(Commit(*zombie, 1).ok());
  for (int start = 0; start < 200; ++start) ASSERT_TRUE(Open()->Restore()->has_value());
  EXPECT_EQ(*files_.ReadAll("state/manifest-1-2"), "CDLCLOSE");
}

TEST_F(CheckpointStoreTest, AnAbandonedNumberIsTakenBeforeTheNext) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1).ok());
  store->Abandon(2);
  ASSERT_TRUE(Commit(*store, 3).ok());
  auto manifests = ListManifests(&files_, "state");
  ASSERT_EQ(manifests->size(), 3u);
  EXPECT_TRUE((*manifests)[1].closed);
}

// KF-46: an empty or cut checkpoint.
TEST_F(CheckpointStoreTest, DamageFallsBackToTheOneBefore) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1, "a").ok());
  ASSERT_TRUE(Commit(*store, 2, "b").ok());
  const std::string whole = *files_.ReadAll("state/manifest-1-2");
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() - 1), whole.substr(0, 40) + "x" + whole.substr(41)}) {
    files_.Overwrite("state/manifest-1-2", damaged);
    auto again = Open()->Restore();
    ASSERT_TRUE(again.ok() && again->has_value()) << again.status().ToString();
    EXPECT_EQ((*again)->manifest.epoch.number, 1);
    EXPECT_EQ((*again)->warnings.size(), 1u);
  }
  files_.Overwrite("state/segment-1-1", "CDLSEG" + std::string("\0\1", 2) + "A");
  EXPECT_EQ(Open()->Restore().status().domain(), Domain::kData);
}

TEST_F(CheckpointStoreTest, TheNewestManifestIsGoneThoughItWasCommitted) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1, "a").ok());
  ASSERT_TRUE(Commit(*store, 2, "b").ok());
  ASSERT_TRUE(store->NoteCommitted({1, 2}).ok());
  ASSERT_TRUE(files_.Remove("state/manifest-1-2").ok());
  auto again = Open()->Restore();
  ASSERT_TRUE(again.ok() && again->has_value()) << again.status().ToString();
  EXPECT_EQ((*again)->manifest.epoch.number, 1);
  EXPECT_THAT((*again)->warnings,
              testing::ElementsAre(
                  "state/manifest-1-2 is missing, though every target has its rows: they are made again"));
}

TEST_F(CheckpointStoreTest, AFullDiskKeepsNoHalfSegment) {
  const std::string folder = testing::TempDir() + "caudal-full-" + std::to_string(getpid());
  auto store = CheckpointStore::Open(&env_, FileSystem::Local(), folder, "p/q");
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  SegmentRef segment;
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1000);
  EXPECT_FALSE((*store)->WriteSegment(1, 1, {std::string(1 << 20, 'x')}, {&segment}).ok());
  Faults::Disarm();
  const auto entries = FileSystem::Local()->List(folder);
  ASSERT_TRUE(entries.ok());
  for (const FileInfo& entry : *entries)
    EXPECT_THAT(entry.path, testing::Not(testing::HasSubstr("segment-")));
  std::filesystem::remove_all(folder);
}

// A snapshot is written while it is made, in several files.
TEST_F(CheckpointStoreTest, AnEpochMayHaveSeveralFiles) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  for (int64_t number = 1; number <= 3; ++number) {
    std::vector<SegmentRef> segments;
    for (int file = 1; file <= 3; ++file) {
      SegmentRef ref;
      ref.table = "keys";
      const std::string records = std::to_string(10 * number + file);
      ASSERT_TRUE(store->WriteSegment(number, file, {records}, {&ref}).ok());
      segments.push_back(ref);
    }
    ASSERT_TRUE(Commit(*store, number, segments).ok());
  }
  ASSERT_TRUE(store->Retain(2).ok());
  EXPECT_FALSE(*files_.Exists("state/segment-1-1"));
  EXPECT_FALSE(*files_.Exists("state/segment-1-1-3"));
  auto restored = Open()->Restore();
  ASSERT_TRUE(restored.ok() && restored->has_value()) << restored.status().ToString();
  EXPECT_THAT((*restored)->segments[0], testing::ElementsAre("31", "32", "33"));
}

// kill -9 between two files of an epoch.
TEST_F(CheckpointStoreTest, AKilledSnapshotLeavesNothingBehindTheNextStart) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1, "a").ok());
  SegmentRef ref;
  for (int file = 1; file <= 2; ++file) ASSERT_TRUE(store->WriteSegment(2, file, {"b"}, {&ref}).ok());
  ASSERT_TRUE(*files_.Exists("state/segment-1-2-2"));
  auto next = Open();
  ASSERT_TRUE(next->Restore()->has_value());
  EXPECT_TRUE(*files_.Exists("state/segment-1-1"));
  EXPECT_FALSE(*files_.Exists("state/segment-1-2"));
  EXPECT_FALSE(*files_.Exists("state/segment-1-2-2"));
}

// A manifest that was passed over may be mended, and then names its segments.
TEST_F(CheckpointStoreTest, SegmentsOfADamagedManifestStay) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  ASSERT_TRUE(Commit(*store, 1, "a").ok());
  ASSERT_TRUE(Commit(*store, 2, "b").ok());
  files_.Overwrite("state/manifest-1-2", "");
  ASSERT_TRUE(Open()->Restore()->has_value());
  EXPECT_TRUE(*files_.Exists("state/segment-1-2"));
}

TEST(CheckpointStore, NamesOfSegments) {
  using Store = CheckpointStore;
  EXPECT_EQ(Store::EpochOfSegment("segment-3-17"), (Epoch{3, 17}));
  EXPECT_EQ(Store::EpochOfSegment("segment-3-17-2"), (Epoch{3, 17}));
  for (const char* name : {"segment-3", "segment-3-", "segment-3-17-", "segment-3-17-x", "segment-3-17-2-1",
                           "manifest-3-17", "segment", "", "-", "segment-3-x-2"}) {
    EXPECT_EQ(Store::EpochOfSegment(name), std::nullopt) << name;
  }
}

// KF-45: two queries on one checkpoint folder.
TEST_F(CheckpointStoreTest, RefusesAnotherQuerysFolder) {
  Open();
  const auto other = CheckpointStore::Open(&env_, &files_, "state", "p/other");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().message(), "checkpoint folder 'state' belongs to query 'p/q', not 'p/other'");
}

TEST_F(CheckpointStoreTest, KeepsWhatIsReferenced) {
  auto store = Open();
  ASSERT_TRUE(store->Restore().ok());
  for (int64_t number = 1; number <= 5; ++number) ASSERT_TRUE(Commit(*store, number).ok());
  ASSERT_TRUE(store->Retain(2).ok());
  EXPECT_EQ(ListManifests(&files_, "state")->size(), 2u);
  EXPECT_FALSE(*files_.Exists("state/segment-1-3"));
  EXPECT_TRUE(*files_.Exists("state/segment-1-4"));
  EXPECT_TRUE(VerifySegments(&files_, "state", *ReadManifest(&files_, "state/manifest-1-4")).ok());
}

TEST(Manifest, SurvivesItsEncoding) {
  Manifest manifest;
  manifest.identity = "id";
  manifest.query = "p/q";
  manifest.epoch = {3, 17};
  manifest.previous = {2, 16};
  manifest.final = manifest.drained = true;
  NodeState node;
  node.id = "clicks";
  node.label = "Scan";
  node.fingerprint = "f";
  node.tables = {{"keys", "v1"}};
  node.segments = {{"keys", "segment-3-17", 8, 100, 7}};
  node.watermark = {5, 6};
  node.rows_in = {10, 11};
  node.rows_out = 12;
  node.fates = {{"late", "watermark", 3}};
  node.splits = {{"a.json\xff", 1, "{\"offset\":3}", 99, true}};
  node.enumerator = "e";
  node.committables = {{"{}", 1, 2, 3}};
  node.tasks = 2;
  node.state_rows = 10;
  node.state_bytes = 1000;
  manifest.nodes = {node, NodeState{}};
  const std::string bytes = EncodeManifest(manifest);
  auto decoded = DecodeManifest(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(*decoded, manifest);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeManifest(bytes.substr(0, size)).ok());
}

}  // namespace
}  // namespace caudal
