// The file sink where files get their names by completing an upload: what a commit makes of it, and a
// restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "connect/filesystem/filesystem_connector.h"
#include "connect/filesystem/sink/file_committable.h"
#include "data/column_builder.h"
#include "fs/memory_file_system.h"
#include "fs/scheme_file_system.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TakesAllRows : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

// A store in memory: uploads, and files once they are completed.
class MemoryStore : public SchemeFileSystem, public PendingFiles {
 public:
  explicit MemoryStore(Env* env) : SchemeFileSystem(&memory_, {{"s3", &memory_}}), memory_(env) {}

  PendingFiles* pending(const std::string&) override { return this; }
  Result<std::unique_ptr<PendingFile>> Begin(const std::string& path) override {
    const std::string id = "upload " + std::to_string(++next_);
    uploads_[id] = {path, ""};
    return std::unique_ptr<PendingFile>(new Upload(this, id));
  }
  Result<PublishOutcome> Publish(const std::string& path, const std::string& ticket) override {
    ASSIGN_OR_RETURN(const bool there, memory_.Exists(path));
    if (there) return made_[path] == ticket ? PublishOutcome::kPublished : PublishOutcome::kTaken;
    if (!uploads_.contains(ticket)) return PublishOutcome::kGone;
    RETURN_IF_ERROR(memory_.MakeDirectories(path.substr(0, path.rfind('/'))));
    RETURN_IF_ERROR(memory_.CreateIfAbsent(path, uploads_[ticket].second).status());
    made_[path] = ticket;
    uploads_.erase(ticket);
    return PublishOutcome::kPublished;
  }
  Result<std::vector<UnpublishedFile>> ListUnpublished(const std::string& folder) override {
    std::vector<UnpublishedFile> found;
    for (const auto& [id, upload] : uploads_) {
      if (upload.first.starts_with(folder + "/")) found.push_back({upload.first, id});
    }
    return found;
  }
  Status Abort(const UnpublishedFile& file) override {
    uploads_.erase(file.handle);
    return Status();
  }

  size_t uploads() const { return uploads_.size(); }
  std::vector<std::string> Paths() {
    std::vector<std::string> paths = memory_.Paths();
    std::erase_if(paths, [](const std::string& path) { return path.ends_with(".committed"); });
    return paths;
  }
  MemoryFileSystem* memory() { return &memory_; }

 private:
  class Upload : public PendingFile {
   public:
    Upload(MemoryStore* store, std::string id) : store_(store), id_(std::move(id)) {}
    Status Append(std::string_view bytes) override {
      store_->uploads_[id_].second += bytes;
      size_ += static_cast<int64_t>(bytes.size());
      return Status();
    }
    Status Sync() override { return Status(); }
    Status Close() override { return Status(); }
    int64_t size() const override { return size_; }
    std::string ticket() const override { return id_; }

   private:
    MemoryStore* store_;
    std::string id_;
    int64_t size_ = 0;
  };

  MemoryFileSystem memory_;
  int next_ = 0;
  std::map<std::string, std::pair<std::string, std::string>> uploads_;  // path and bytes, by number
  std::map<std::string, std::string> made_;                             // of which upload a file is
};

class StoreSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.name = "t";
    table_.columns.resize(2);
    table_.columns[0].name = "p";
    table_.columns[0].type = Type(TypeId::kInt);
    table_.columns[1].name = "a";
    table_.columns[1].type = Type(TypeId::kBigInt);
    table_.options = {{"connector", "filesystem"}, {"path", "s3://b/out/"}, {"format", "json"}};
    table_.partition_keys = {0};
  }
  std::unique_ptr<Sink> MakeSink(int64_t generation) {
    ConnectorContext context;
    context.query = "p/q";
    context.identity = "0123";
    context.sink = "t/sink/1";
    context.generation = generation;
    context.files = &store_;
    auto sink = connector_.MakeSink(table_, context);
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return std::move(sink).value();
  }
  // Two rows in two partitions, prepared.
  Committable Prepare(SinkWriter* writer, Epoch epoch) {
    ColumnBuilder p(Type(TypeId::kInt)), a(Type(TypeId::kBigInt));
    for (int i = 0; i < 2; ++i) {
      p.Append<int32_t>(i);
      a.Append<int64_t>(i);
    }
    TakesAllRows rejects;
    EXPECT_TRUE(writer->Write(Chunk({p.Finish(), a.Finish()}, 2), rejects).ok());
    const auto sealed = std::move(writer->Seal(epoch)).value();
    Result<Committable> committable = sealed->Prepare();
    EXPECT_TRUE(committable.ok()) << committable.status().ToString();
    return std::move(committable).value();
  }
  // By a process of its own.
  CommitResult Commit(int64_t generation, Epoch epoch, const Committable& committable) {
    const auto sink = MakeSink(generation);
    const auto committer = std::move(sink->MakeCommitter()).value();
    return committer->Commit(epoch, std::span(&committable, 1));
  }

  MemoryStore store_{Env::Real()};
  Table table_;
  FilesystemConnector connector_;
};

TEST_F(StoreSinkTest, FilesGetTheirNamesAtTheCommitOnceHoweverOftenItIsMade) {
  const auto sink = MakeSink(1);
  const auto writer = std::move(sink->MakeWriter(0)).value();
  const Committable committable = Prepare(writer.get(), {1, 7});
  EXPECT_THAT(store_.Paths(), ElementsAre());
  for (int i = 0; i < 3; ++i) {
    const CommitResult committed = Commit(1 + i, {1, 7}, committable);
    EXPECT_EQ(committed.outcome, CommitOutcome::kCommitted) << committed.status.ToString();
    const std::string name = "part-97d1ecba0192c3bf-1_0-";
    EXPECT_THAT(store_.Paths(),
                ElementsAre("s3://b/out/p=0/" + name + "0.json", "s3://b/out/p=1/" + name + "1.json"));
  }
  EXPECT_EQ(store_.uploads(), 0u);
}

// Files of many epochs have no epoch in their names, and yet none has another's.
TEST_F(StoreSinkTest, EveryEpochHasFilesOfItsOwn) {
  const auto sink = MakeSink(1);
  const auto writer = std::move(sink->MakeWriter(0)).value();
  for (int64_t epoch = 1; epoch <= 3; ++epoch)
    EXPECT_EQ(Commit(1, {1, epoch}, Prepare(writer.get(), {1, epoch})).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(store_.Paths().size(), 6u);
  const auto next = MakeSink(2);
  const auto committer = std::move(next->MakeCommitter()).value();
  EXPECT_EQ(*committer->LastCommitted(), (Epoch{1, 3}));
}

TEST_F(StoreSinkTest, WhatACrashLeftIsGivenUpAndWhatTheManifestHasIsNot) {
  const auto first = MakeSink(1);
  const auto writer = std::move(first->MakeWriter(0)).value();
  const Committable kept = Prepare(writer.get(), {1, 1});
  Prepare(writer.get(), {1, 2});  // no manifest names it
  EXPECT_EQ(store_.uploads(), 4u);
  const auto second = MakeSink(2);
  const auto own = std::move(second->MakeWriter(0)).value();
  Prepare(own.get(), {2, 2});
  const auto committer = std::move(second->MakeCommitter()).value();
  ASSERT_TRUE(committer->LastCommitted().ok());
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&kept, 1)).outcome, CommitOutcome::kCommitted);
  ASSERT_TRUE(committer->RemoveLeftovers().ok());
  EXPECT_EQ(store_.Paths().size(), 2u);
  EXPECT_EQ(store_.uploads(), 2u);  // of this generation
}

TEST_F(StoreSinkTest, AnUploadThatIsGoneIsLostAndANameThatIsTakenRefused) {
  const auto sink = MakeSink(1);
  const auto writer = std::move(sink->MakeWriter(0)).value();
  const Committable lost = Prepare(writer.get(), {1, 1});
  for (const UnpublishedFile& file : *store_.ListUnpublished("s3://b/out"))
    ASSERT_TRUE(store_.Abort(file).ok());
  const CommitResult gone = Commit(1, {1, 1}, lost);
  EXPECT_EQ(gone.outcome, CommitOutcome::kLost);
  EXPECT_THAT(gone.status.ToString(), HasSubstr("the upload of 's3://"));
  EXPECT_THAT(gone.status.ToString(), HasSubstr("with 1 rows is gone, and there is no such file"));
  EXPECT_THAT(gone.status.ToString(), HasSubstr("a rule that ends incomplete uploads"));
  const Committable late = Prepare(writer.get(), {1, 2});
  const std::string taken = FilesFromJson(late.payload)->at(0).final_path;
  ASSERT_TRUE(store_.memory()->MakeDirectories("s3://b/out/p=0").ok());
  ASSERT_TRUE(*store_.memory()->CreateIfAbsent(taken, "of somebody else"));
  const CommitResult refused = Commit(1, {1, 2}, late);
  EXPECT_EQ(refused.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(*store_.memory()->ReadAll(taken), "of somebody else");
  EXPECT_THAT(refused.status.ToString(),
              HasSubstr("is there already and is another file than the upload that is to get its name"));
}

// Names do not tell it here: the ledger does, before the first file has its name.
TEST_F(StoreSinkTest, AnEpochWhoseCommitHasBegunIsKnownToTheNextStart) {
  const auto sink = MakeSink(1);
  const auto writer = std::move(sink->MakeWriter(0)).value();
  ASSERT_EQ(Commit(1, {1, 6}, Prepare(writer.get(), {1, 6})).outcome, CommitOutcome::kCommitted);
  const Committable committable = Prepare(writer.get(), {1, 7});
  for (const UnpublishedFile& file : *store_.ListUnpublished("s3://b/out/p=1"))
    ASSERT_TRUE(store_.Abort(file).ok());
  EXPECT_EQ(Commit(1, {1, 7}, committable).outcome, CommitOutcome::kLost);
  EXPECT_EQ(store_.Paths().size(), 3u) << "one of the two has its name";
  const auto next = MakeSink(2);
  const auto committer = std::move(next->MakeCommitter()).value();
  EXPECT_EQ(*committer->LastCommitted(), (Epoch{1, 7}));
  EXPECT_EQ(Commit(2, {1, 7}, committable).outcome, CommitOutcome::kLost) << "begun is not committed";
  const Committable whole = Prepare(writer.get(), {1, 8});
  EXPECT_EQ(Commit(2, {1, 8}, whole).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(*committer->LastCommitted(), (Epoch{1, 8}));
  // A process of before that is late takes nothing back.
  EXPECT_EQ(Commit(1, {1, 7}, committable).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(*committer->LastCommitted(), (Epoch{1, 8}));
}

// Finished files are their readers': the ledger says that they were there.
TEST_F(StoreSinkTest, FilesThatWereTakenAwayAfterTheirCommitAreNotMissed) {
  const auto sink = MakeSink(1);
  const auto writer = std::move(sink->MakeWriter(0)).value();
  const Committable committable = Prepare(writer.get(), {1, 7});
  ASSERT_EQ(Commit(1, {1, 7}, committable).outcome, CommitOutcome::kCommitted);
  for (const std::string& path : store_.Paths()) ASSERT_TRUE(store_.memory()->Remove(path).ok());
  EXPECT_EQ(Commit(2, {1, 7}, committable).outcome, CommitOutcome::kCommitted);
}

}  // namespace
}  // namespace caudal
