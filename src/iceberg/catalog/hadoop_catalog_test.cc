#include "iceberg/catalog/hadoop_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/env.h"
#include "fs/memory_file_system.h"

namespace caudal::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A disk on which another writer makes a file just before this one would.
class SharedDisk : public MemoryFileSystem {
 public:
  using MemoryFileSystem::MemoryFileSystem;
  void BeQuicker(const std::string& path, const std::string& bytes) {
    path_ = path;
    bytes_ = bytes;
  }
  Result<bool> CreateIfAbsent(const std::string& path, std::string_view bytes) override {
    if (path == path_) {
      path_.clear();
      EXPECT_TRUE(*MemoryFileSystem::CreateIfAbsent(path, bytes_));
    }
    return MemoryFileSystem::CreateIfAbsent(path, bytes);
  }

 private:
  std::string path_, bytes_;
};

class HadoopCatalogTest : public ::testing::Test {
 protected:
  HadoopCatalogTest() : disk_(Env::Real()), files_(&disk_, Env::Real()) {}
  void SetUp() override {
    catalog_ = std::move(HadoopCatalog::Open("/w", &disk_, &files_)).value();
    ASSERT_TRUE(catalog_->CreateNamespace({"a", "b"}).ok());
  }
  static NewTable Columns() {
    NewTable table;
    table.schema.fields.push_back({.id = 1, .name = "id", .type = Type(TypeId::kLong)});
    return table;
  }
  void Put(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(disk_.Remove(path).ok());
    ASSERT_TRUE(*disk_.CreateIfAbsent(path, bytes));
  }
  std::string LocationNow() { return catalog_->LoadTable(kTable)->metadata_location; }
  CommitAnswer Set(const std::string& value) {
    return catalog_->Commit(kTable, {{}, {SetProperties{{{"k", value}}}}});
  }

  const TableName kTable{{"a", "b"}, "t"};
  SharedDisk disk_;
  TableFiles files_;
  std::unique_ptr<HadoopCatalog> catalog_;
};

TEST_F(HadoopCatalogTest, ATableIsItsFolder) {
  ASSERT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v1.metadata.json");
  EXPECT_EQ(*disk_.ReadAll("/w/a/b/t/metadata/version-hint.text"), "1");
  EXPECT_THAT(*catalog_->ListTables({"a", "b"}), ElementsAre("t"));
  EXPECT_THAT(*catalog_->ListNamespaces(), ElementsAre(ElementsAre("a"), ElementsAre("a", "b")));
  EXPECT_THAT(catalog_->CreateTable(kTable, Columns()).status().message(), HasSubstr("is there already"));
  EXPECT_THAT(catalog_->LoadTable({{"a", "b"}, "T"}).status().hint(), HasSubstr("'t' differs by case alone"));
  EXPECT_THAT(catalog_->CreateTable({{"x"}, "t"}, Columns()).status().message(),
              HasSubstr("no namespace 'x'"));
  EXPECT_THAT(catalog_->RenameTable(kTable, {{"a"}, "u"}).message(), HasSubstr("cannot be renamed"));
  EXPECT_THAT(catalog_->DropNamespace({"a", "b"}).message(), HasSubstr("is not empty"));
  ASSERT_TRUE(catalog_->DropTable(kTable).ok());
  EXPECT_THAT(catalog_->LoadTable(kTable).status().message(), HasSubstr("there is no table 'a.b.t'"));
  EXPECT_THAT(*catalog_->ListTables({"a", "b"}), ElementsAre());
  EXPECT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
}

TEST_F(HadoopCatalogTest, MetadataIsPackedAsTheTableSaysAndNoVersionGoes) {
  ASSERT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
  const auto set = [&](const std::string& name, const std::string& value) {
    return catalog_->Commit(kTable, {{}, {SetProperties{{{name, value}}}}}).outcome;
  };
  ASSERT_EQ(set("write.metadata.compression-codec", "gzip"), CommitOutcome::kDone);
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v2.metadata.json") << "as whoever read the first would name it";
  ASSERT_EQ(set("write.metadata.previous-versions-max", "1"), CommitOutcome::kDone);
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v3.gz.metadata.json");
  ASSERT_EQ(set("write.metadata.delete-after-commit.enabled", "true"), CommitOutcome::kDone);
  ASSERT_EQ(set("k", "v"), CommitOutcome::kDone);
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v5.gz.metadata.json");
  EXPECT_EQ(catalog_->LoadTable(kTable)->metadata.properties.at("k"), "v");
  // A writer that was held up would make the version anew, which a commit takes for a sign that it is first.
  EXPECT_TRUE(*disk_.Exists("/w/a/b/t/metadata/v3.gz.metadata.json"));
}

// Its files have the names of the former one's.
TEST_F(HadoopCatalogTest, ATableThatIsMadeAnewIsAnother) {
  char folder[] = "/tmp/caudal_hadoop_XXXXXX";
  const std::string warehouse = mkdtemp(folder);
  const TableFiles files(FileSystem::Local(), Env::Real());
  const auto open = [&] { return HadoopCatalog::Open(warehouse, FileSystem::Local(), &files).value(); };
  const auto ours = open(), others = open();
  ASSERT_TRUE(ours->CreateNamespace({"a", "b"}).ok());
  ASSERT_TRUE(ours->CreateTable(kTable, Columns()).ok());
  ASSERT_EQ(ours->Commit(kTable, {{}, {SetProperties{{{"k", "1"}}}}}).outcome, CommitOutcome::kDone);
  const LoadedTable before = ours->LoadTable(kTable).value();
  EXPECT_EQ(before.metadata, others->LoadTable(kTable).value().metadata);
  ASSERT_TRUE(others->DropTable(kTable).ok());
  ASSERT_TRUE(others->CreateTable(kTable, Columns()).ok());
  ASSERT_EQ(others->Commit(kTable, {{}, {SetProperties{{{"k", "2"}}}}}).outcome, CommitOutcome::kDone);
  const LoadedTable after = ours->LoadTable(kTable).value();
  EXPECT_EQ(after.metadata_location, before.metadata_location);
  EXPECT_NE(after.metadata.table_uuid, before.metadata.table_uuid);
  EXPECT_EQ(after.metadata.properties.at("k"), "2");
  std::filesystem::remove_all(warehouse);
}

TEST_F(HadoopCatalogTest, ACommitIsTheFileOfTheNextVersion) {
  ASSERT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
  EXPECT_EQ(Set("1").outcome, CommitOutcome::kDone);
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v2.metadata.json");
  EXPECT_EQ(catalog_->LoadTable(kTable)->metadata.metadata_log.back().metadata_file,
            "/w/a/b/t/metadata/v1.metadata.json");
  // A requirement that does not hold is a refusal.
  const CommitAnswer other =
      catalog_->Commit(kTable, {{AssertCurrentSchemaId{7}}, {SetProperties{{{"k", "2"}}}}});
  EXPECT_EQ(other.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(other.status.retry(), Retry::kBackoff);
  EXPECT_EQ(catalog_->LoadTable(kTable)->metadata.properties.at("k"), "1");
}

// Writers die between the version and its hint, and hints outlive versions.
TEST_F(HadoopCatalogTest, NothingDependsOnTheHint) {
  ASSERT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
  for (const char* value : {"1", "2", "3"}) ASSERT_EQ(Set(value).outcome, CommitOutcome::kDone);
  const std::string hint = "/w/a/b/t/metadata/version-hint.text";
  for (const char* written : {"2", "999", "no number", ""}) {
    Put(hint, written);
    EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v4.metadata.json") << written;
  }
  ASSERT_TRUE(disk_.Remove(hint).ok());
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v4.metadata.json");
  // Old versions are removed by and by.
  ASSERT_TRUE(disk_.Remove("/w/a/b/t/metadata/v1.metadata.json").ok());
  EXPECT_EQ(Set("4").outcome, CommitOutcome::kDone);
  EXPECT_EQ(*disk_.ReadAll(hint), "5");
}

// Two writers that began with the same version: one of them is refused, and what the other wrote stays.
TEST_F(HadoopCatalogTest, OneOfTwoWritersIsRefused) {
  ASSERT_TRUE(catalog_->CreateTable(kTable, Columns()).ok());
  const std::string next = "/w/a/b/t/metadata/v2.metadata.json";
  const std::string theirs = *disk_.ReadAll("/w/a/b/t/metadata/v1.metadata.json");
  disk_.BeQuicker(next, theirs);
  const CommitAnswer mine = Set("mine");
  EXPECT_EQ(mine.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(mine.status.retry(), Retry::kBackoff);
  EXPECT_EQ(*disk_.ReadAll(next), theirs);
  EXPECT_EQ(Set("mine").outcome, CommitOutcome::kDone);
  EXPECT_EQ(LocationNow(), "/w/a/b/t/metadata/v3.metadata.json");
}

}  // namespace
}  // namespace caudal::iceberg
