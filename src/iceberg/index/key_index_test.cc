#include "iceberg/index/key_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "fs/memory_file_system.h"

namespace caudal::iceberg {
namespace {

using RowPlace = std::pair<std::string, uint32_t>;
using Model = std::map<KeyHash, RowPlace>;

class KeyIndexTest : public testing::Test {
 protected:
  void Open(const std::string& identity = "t 1") {
    index_.reset();
    auto opened = KeyIndex::Open(&memory_, "/index", identity);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    index_ = std::move(opened).value();
  }
  static KeyHash Key(int number) { return HashKey(std::to_string(number), 7); }
  // One epoch: keys with their rows, and keys that are gone.
  void Put(const std::map<int, uint32_t>& rows, const std::string& file, const std::vector<int>& gone = {}) {
    std::vector<IndexEntry> entries;
    for (const auto& [key, position] : rows) {
      entries.push_back({Key(key), 0, position});
      model_[Key(key)] = {file, position};
    }
    for (const int key : gone) {
      entries.push_back({Key(key), IndexEntry::kGone, 0});
      model_.erase(Key(key));
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    ASSERT_TRUE(index_->Add(entries, {file}).ok());
    ++stamp_.snapshot_id;
    ++stamp_.sequence_number;
    ASSERT_TRUE(index_->Seal(stamp_).ok());
    if (index_->wants_merge()) {
      ASSERT_TRUE(index_->Merge().ok());
    }
  }
  Model Find(int keys) {
    std::vector<KeyHash> wanted;
    for (int i = 0; i < keys; ++i) wanted.push_back(Key(i));
    std::sort(wanted.begin(), wanted.end());
    Model found;
    const Status status =
        index_->Find(wanted, [&](size_t number, const std::string& file, uint32_t position) {
          EXPECT_TRUE(found.emplace(wanted[number], RowPlace(file, position)).second);
        });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return found;
  }

  bool Replace(const std::string& path, const std::string& bytes) {
    auto file = memory_.Create(path);
    return file.ok() && (*file)->Append(bytes).ok() && (*file)->Close().ok();
  }

  ManualEnv env_{1, 1};
  MemoryFileSystem memory_{&env_};
  std::unique_ptr<KeyIndex> index_;
  Model model_;
  KeyIndex::Stamp stamp_{100, 1};
};

TEST_F(KeyIndexTest, TheNewestRowOfAKeyIsFound) {
  Open();
  EXPECT_EQ(index_->stamp(), std::nullopt);
  Put({{1, 0}, {2, 1}}, "/a");
  Put({{2, 0}, {3, 1}}, "/b", {1});
  EXPECT_EQ(Find(10), model_);
  EXPECT_EQ(model_.size(), 2u);
  Open();
  EXPECT_EQ(index_->stamp(), stamp_);
  EXPECT_EQ(Find(10), model_) << "after a restart";
}

TEST_F(KeyIndexTest, RunsStayFewAndNothingIsLostByMerging) {
  Open();
  std::mt19937 random(3);
  for (int epoch = 0; epoch < 120; ++epoch) {
    std::map<int, uint32_t> rows;
    std::vector<int> gone;
    for (int i = 0; i < 300; ++i) {
      const int key = static_cast<int>(random() % 5'000);
      if (random() % 4 == 0 && !rows.contains(key)) {
        if (std::find(gone.begin(), gone.end(), key) == gone.end()) gone.push_back(key);
      } else if (std::find(gone.begin(), gone.end(), key) == gone.end()) {
        rows[key] = static_cast<uint32_t>(i);
      }
    }
    Put(rows, "/f" + std::to_string(epoch), gone);
    if (epoch % 30 == 7) Open();
    if (epoch % 10 == 0) {
      ASSERT_EQ(Find(5'000), model_) << epoch;
    }
  }
  EXPECT_LE(index_->runs(), 12);
  // Two files a run, and the list of them.
  EXPECT_EQ(memory_.List("/index")->size(), static_cast<size_t>(2 * index_->runs() + 1));
}

TEST_F(KeyIndexTest, KeysAreFoundWhileRunsAreMerged) {
  Open();
  std::map<int, uint32_t> rows;
  for (int i = 0; i < 20'000; ++i) rows[i] = static_cast<uint32_t>(i);
  Put(rows, "/first");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    const KeyHash key = Key(17);
    while (!done) {
      int found = 0;
      EXPECT_TRUE(index_->Find({&key, 1}, [&](size_t, const std::string&, uint32_t) { ++found; }).ok());
      EXPECT_EQ(found, 1);
    }
  });
  for (int epoch = 0; epoch < 30; ++epoch)
    Put({{epoch, 9}, {epoch + 1'000, 9}}, "/f" + std::to_string(epoch));
  done = true;
  reader.join();
  EXPECT_EQ(Find(20'000), model_);
}

TEST_F(KeyIndexTest, FewKeysAreFoundInALargeRunWithoutReadingAllOfIt) {
  Open();
  std::map<int, uint32_t> rows;
  for (int i = 0; i < 100'000; ++i) rows[i] = static_cast<uint32_t>(i);
  Put(rows, "/large");
  EXPECT_LT(index_->memory(), 2 * 100'000) << "two bytes a key";
  for (int i = 0; i < 100'000; i += 9'973) {
    const KeyHash key = Key(i);
    int found = 0;
    ASSERT_TRUE(
        index_
            ->Find({&key, 1}, [&](size_t, const std::string&,
                                  uint32_t position) { found += position == static_cast<uint32_t>(i); })
            .ok());
    EXPECT_EQ(found, 1);
  }
  EXPECT_EQ(Find(150'000), model_) << "one in three is not there";
}

TEST_F(KeyIndexTest, WhatWasNotSealedOrIsOfAnotherTableIsForgotten) {
  Open();
  Put({{1, 0}}, "/a");
  const IndexEntry entry{Key(2), 0, 5};
  ASSERT_TRUE(index_->Add({&entry, 1}, {"/b"}).ok());
  EXPECT_EQ(Find(5), model_) << "not sealed";
  Open();
  EXPECT_EQ(Find(5), model_);
  EXPECT_EQ(memory_.List("/index")->size(), 3u) << "what a crash left is removed";
  Open("t 2");
  EXPECT_EQ(index_->stamp(), std::nullopt);
  EXPECT_TRUE(Find(5).empty());
}

TEST_F(KeyIndexTest, ADamagedIndexIsAnEmptyOne) {
  for (const char* name : {"/index/00000001.run", "/index/00000001.keys", "/index/index.json"}) {
    Open();
    ASSERT_TRUE(index_->Clear().ok());
    Put({{1, 0}, {2, 1}}, "/a");
    const auto files = memory_.List("/index").value();
    for (const FileInfo& file : files) {
      const std::string wanted(name);
      if (file.path.substr(file.path.rfind('.')) != wanted.substr(wanted.rfind('.'))) continue;
      std::string bytes = memory_.ReadAll(file.path).value();
      memory_.Overwrite(file.path, bytes.substr(0, bytes.size() - 1));
    }
    Open();
    EXPECT_EQ(index_->stamp(), std::nullopt) << name;
  }
}

TEST_F(KeyIndexTest, AFlippedBitGivesNoWrongPlace) {
  Open();
  Put({{1, 0}, {2, 1}, {3, 2}}, "/a");
  Put({{2, 7}}, "/b", {1});
  std::map<std::string, std::string> whole;
  const std::vector<FileInfo> files = memory_.List("/index").value();
  for (const FileInfo& file : files) whole[file.path] = memory_.ReadAll(file.path).value();
  ASSERT_EQ(whole.size(), 5u);
  std::vector<KeyHash> wanted;
  for (int i = 0; i < 6; ++i) wanted.push_back(Key(i));
  std::sort(wanted.begin(), wanted.end());
  int harmless = 0;
  for (const auto& [path, bytes] : whole) {
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      for (const auto& [name, text] : whole) ASSERT_TRUE(Replace(name, name == path ? damaged : text));
      Open();
      if (!index_->stamp()) continue;
      ASSERT_EQ(index_->stamp(), stamp_) << path << " " << bit;
      Model found;
      const Status status =
          index_->Find(wanted, [&](size_t number, const std::string& file, uint32_t position) {
            found.emplace(wanted[number], RowPlace(file, position));
          });
      if (status.ok()) {
        ASSERT_EQ(found, model_) << path << " " << bit;
        ++harmless;
      } else {
        EXPECT_EQ(status.domain(), Domain::kData);
        EXPECT_THAT(path, testing::EndsWith(".keys")) << "all else is read when it is opened";
      }
    }
  }
  EXPECT_EQ(harmless, 0);
}

// A disk that damages what was just written.
class DamagingFileSystem : public MemoryFileSystem {
 public:
  using MemoryFileSystem::MemoryFileSystem;
  Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) override {
    if (path == damaged) Overwrite(path, std::string(100, 'x'));
    return MemoryFileSystem::Open(path);
  }
  std::string damaged;
};

TEST_F(KeyIndexTest, AMergeThatCannotBeReadLeavesNothingThatCounts) {
  DamagingFileSystem files(&env_);
  auto index = std::move(KeyIndex::Open(&files, "/index", "t 1")).value();
  const auto put = [&](int key) {
    const IndexEntry entry{Key(key), 0, 0};
    Status status = index->Add({&entry, 1}, {"/a"});
    if (status.ok()) status = index->Seal({key + 1, key + 1});
    return status;
  };
  for (int key = 0; key < 4; ++key) ASSERT_TRUE(put(key).ok());
  ASSERT_TRUE(index->wants_merge());
  files.damaged = "/index/00000005.run";
  EXPECT_EQ(index->Merge().domain(), Domain::kData);
  EXPECT_EQ(index->stamp(), std::nullopt);
  const KeyHash key = Key(1);
  const auto nothing = [](size_t, const std::string&, uint32_t) {};
  EXPECT_EQ(index->Find({&key, 1}, nothing).domain(), Domain::kData) << "not: no such key";
  EXPECT_EQ(put(4).domain(), Domain::kData) << "one run of five must not pass for all";
  EXPECT_EQ(index->stamp(), std::nullopt);
  ASSERT_TRUE(index->Clear().ok());
  EXPECT_TRUE(put(5).ok());
  EXPECT_EQ(index->stamp(), (KeyIndex::Stamp{6, 6}));
}

TEST_F(KeyIndexTest, WhatCannotBeWrittenOrMergedLeavesNoFiles) {
  Open();
  Put({{1, 0}}, "/a");
  const auto before = memory_.List("/index")->size();
  const IndexEntry entry{Key(2), 0, 5};
  ASSERT_TRUE(index_->Add({&entry, 1}, {"/b"}).ok());
  index_->Discard();
  EXPECT_EQ(memory_.List("/index")->size(), before);
  {
    const auto writer = IndexRunWriter::Make(&memory_, "/index/torn", 1).value();
    ASSERT_TRUE(writer->Add({Key(2), IndexEntry::kGone, 0}).ok());
    EXPECT_GT(memory_.List("/index")->size(), before);
  }
  EXPECT_EQ(memory_.List("/index")->size(), before);
  ++stamp_.snapshot_id;
  ASSERT_TRUE(index_->Seal(stamp_).ok());
  EXPECT_EQ(Find(5), model_) << "what was discarded does not come with the next";
}

}  // namespace
}  // namespace caudal::iceberg
