#include "connect/iceberg/upsert/key_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fs/memory_file_system.h"

namespace caudal {
namespace {

using iceberg::EntryMerge;
using iceberg::IndexEntry;
using testing::HasSubstr;

constexpr const char* kPath = "/state/a.places";

class KeyPlacesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(files_.MakeDirectories("/state").ok()); }
  static std::vector<IndexEntry> Run(uint64_t first, uint64_t last, uint64_t step, uint32_t file) {
    std::vector<IndexEntry> run;
    for (uint64_t key = first; key < last; key += step)
      run.push_back({{key, 0}, file, static_cast<uint32_t>(run.size())});
    return run;
  }
  KeyPlacesFile Write(const std::vector<std::vector<IndexEntry>>& runs) {
    auto writer = std::move(KeyPlacesWriter::Make(&files_, kPath)).value();
    for (const auto& run : runs) writer->Add(run);
    return std::move(writer->Finish()).value();
  }
  void Replace(const std::string& bytes) {
    auto file = std::move(files_.Create(kPath)).value();
    ASSERT_TRUE(file->Append(bytes).ok() && file->Close().ok());
  }
  // Reads all of every run; what went wrong.
  Status ReadAll(const KeyPlacesFile& file) {
    ASSIGN_OR_RETURN(const auto places, KeyPlaces::Open(&files_, file));
    for (size_t run = 0; run < places->runs(); ++run) {
      const auto source = places->Read(run);
      for (;;) {
        ASSIGN_OR_RETURN(const IndexEntry* entry, source->Next());
        if (entry == nullptr) break;
      }
    }
    return Status();
  }

  ManualEnv env_{1, 1};
  MemoryFileSystem files_{&env_};
};

// More than a block each, of different lengths, and one that is empty.
TEST_F(KeyPlacesTest, RunsAreReadSideBySideAndTheLaterOneCounts) {
  const KeyPlacesFile file =
      Write({Run(0, 9000, 1, 0), {}, Run(0, 30'000, 3, 1), Run(5, 6, 1, IndexEntry::kGone)});
  const auto places = std::move(KeyPlaces::Open(&files_, file)).value();
  ASSERT_EQ(places->runs(), 4u);
  EXPECT_EQ(places->entries(), 9000 + 10'000 + 1);
  std::vector<std::unique_ptr<iceberg::EntrySource>> sources;
  std::vector<iceberg::EntrySource*> merged;
  for (size_t run = 0; run < places->runs(); ++run)
    merged.push_back(sources.emplace_back(places->Read(run)).get());
  EntryMerge merge(merged);
  std::map<uint64_t, uint32_t> last;
  int64_t hidden = 0;
  uint64_t former = 0;
  for (;;) {
    const EntryMerge::Merged* next = std::move(merge.Next()).value();
    if (next == nullptr) break;
    ASSERT_GE(next->entry.key.high, former);
    former = next->entry.key.high;
    if (next->hidden) {
      ++hidden;
    } else {
      last[former] = next->entry.file;
    }
  }
  EXPECT_EQ(hidden, 3000 + 1);
  EXPECT_EQ(last.size(), 9000u + 7000);
  EXPECT_EQ(last.at(3), 1u);
  EXPECT_EQ(last.at(4), 0u);
  EXPECT_EQ(last.at(5), IndexEntry::kGone);
}

TEST_F(KeyPlacesTest, WhatIsNotWhatWasWrittenIsRefused) {
  const KeyPlacesFile file = Write({Run(0, 5000, 1, 0), Run(7, 9, 1, 1)});
  ASSERT_TRUE(ReadAll(file).ok());
  const std::string whole = files_.ReadAll(kPath).value();
  // An entry, a checksum, a number.
  for (const size_t at : {size_t{8 + 24 * 4500}, whole.size() - 25, whole.size() - 8}) {
    std::string bytes = whole;
    bytes[at] ^= 1;
    Replace(bytes);
    const Status status = ReadAll(file);
    EXPECT_EQ(status.domain(), Domain::kData) << at;
    EXPECT_THAT(status.ToString(), HasSubstr("'/state/a.places', which was prepared for the table, is "))
        << at;
  }
  Replace(whole.substr(0, whole.size() - 24));
  EXPECT_THAT(ReadAll(file).ToString(), HasSubstr("is another one"));
  Replace("CDLKEYP1" + whole.substr(8));
  EXPECT_THAT(ReadAll(file).ToString(), HasSubstr("by an older version"));
  EXPECT_EQ(ReadAll(file).domain(), Domain::kUser);
  ASSERT_TRUE(files_.Remove(kPath).ok());
  EXPECT_THAT(ReadAll(file).ToString(), HasSubstr("is gone"));
}

}  // namespace
}  // namespace caudal
