// Deletion vectors and Puffin files, of our own and of Spark's; and bitmaps that must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/puffin.h"
#include "iceberg/testing/fixtures.h"

namespace caudal::iceberg {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

// The only Puffin file of a table.
std::string PuffinOf(const std::string& table) {
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures / table)) {
    if (entry.path().extension() != ".puffin") continue;
    return Contents(entry.path());
  }
  return {};
}

PositionSet SetOf(std::initializer_list<int64_t> positions) {
  PositionSet set;
  for (int64_t position : positions) set.Add(position);
  return set;
}

// Arrays, bitsets, runs, several high halves.
PositionSet EveryContainer() {
  PositionSet set = SetOf({0, 5, 65535, 65536 * 3, (int64_t{1} << 32) + 1, INT64_MAX});
  for (int64_t i = 0; i < 10000; ++i) set.Add(65536 * 5 + i * 3);
  for (int64_t i = 0; i < 70000; ++i) set.Add(65536 * 8 + 100 + i);
  return set;
}

std::string BitmapMessage(std::string_view bytes) {
  const auto set = PositionSet::Deserialize(bytes);
  return set.ok() ? "a set" : set.status().message();
}

TEST(PositionSet, EveryContainerComesBack) {
  const PositionSet set = EveryContainer();
  const auto again = PositionSet::Deserialize(set.Serialize());
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_TRUE(*again == set);
  EXPECT_EQ(again->size(), 80006);
  EXPECT_EQ(again->ToVector(), set.ToVector());
  EXPECT_TRUE(again->Contains(INT64_MAX));
  EXPECT_FALSE(again->Contains(1));
}

TEST(PositionSet, TheEmptySetIsEightZeroBytes) {
  EXPECT_EQ(PositionSet().Serialize(), std::string(8, '\0'));
  EXPECT_EQ(PositionSet::Deserialize(std::string(8, '\0'))->size(), 0);
}

TEST(PositionSet, EmptyBitmapsAreNoMembers) {
  // Java writes a bitmap for every high half up to the last, whether or not it has members.
  const std::string empty = "\1\0\0\0\0\0\0\0"s + "\0\0\0\0"s + "\x3a\x30\0\0\0\0\0\0"s;
  const auto set = PositionSet::Deserialize(empty);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_EQ(set->size(), 0);
  EXPECT_TRUE(*set == PositionSet());
  EXPECT_EQ(set->ToVector(), std::vector<int64_t>());
}

TEST(PositionSet, SetsAreMerged) {
  PositionSet set = SetOf({1, 2});
  set.AddAll(SetOf({2, int64_t{1} << 40}));
  EXPECT_EQ(set.ToVector(), (std::vector<int64_t>{1, 2, int64_t{1} << 40}));
}

TEST(PositionSet, DamagedBitmapsAreRefused) {
  // One bitmap (high half 0) with one array container: key 0, members 1 and 2.
  const std::string good =
      "\1\0\0\0\0\0\0\0"s + "\0\0\0\0"s + "\x3a\x30\0\0\1\0\0\0\0\0\1\0\x10\0\0\0\1\0\2\0"s;
  EXPECT_EQ(PositionSet::Deserialize(good)->ToVector(), (std::vector<int64_t>{1, 2}));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(BitmapMessage(good.substr(0, size)), HasSubstr("the bytes end too early"));
  }
  const auto changed = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return BitmapMessage(bytes);
  };
  EXPECT_EQ(BitmapMessage(good + "x"), "no bitmap of positions: bytes behind the end (at byte 32)");
  EXPECT_THAT(changed(0, 2), HasSubstr("the bytes end too early"));
  EXPECT_THAT(changed(11, '\x80'), HasSubstr("a position of more than 63 bits"));
  EXPECT_THAT(changed(12, 0), HasSubstr("no Roaring bitmap"));
  EXPECT_THAT(changed(19, 1), HasSubstr("more than 65536 containers"));
  EXPECT_THAT(changed(30, 1), HasSubstr("members out of order"));
  EXPECT_THAT(changed(22, 2), HasSubstr("the bytes end too early"));
  // A run container: members 0…1 and 1…2 overlap; then a wrong count.
  const std::string runs = "\1\0\0\0\0\0\0\0"s + "\0\0\0\0"s + "\x3b\x30\0\0\1\0\0\2\0\2\0\0\0\1\0\1\0\0\0"s;
  EXPECT_THAT(BitmapMessage(runs), HasSubstr("runs out of order"));
  std::string gap = runs;
  gap[27] = 5;
  EXPECT_EQ(BitmapMessage(gap), "a set");
  gap[19] = 4;
  EXPECT_THAT(BitmapMessage(gap), HasSubstr("runs with another number of members than claimed"));
}

TEST(DeletionVector, FrameAndChecksumAreRight) {
  const PositionSet set = EveryContainer();
  const std::string blob = EncodeDeletionVector(set);
  EXPECT_EQ(blob.substr(4, 4), "\xd1\xd3\x39\x64");
  const auto again = DecodeDeletionVector(blob, 80006);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_TRUE(*again == set);
  EXPECT_EQ(DecodeDeletionVector(blob, 1).status().message(),
            "no deletion vector: it holds 80006 positions, the manifest says 1");
  for (size_t at : {0, 3, 5, 20, 3000}) {
    std::string damaged = blob;
    damaged[at] ^= 4;
    EXPECT_THAT(DecodeDeletionVector(damaged, 80006).status().message(), HasSubstr("no deletion vector: it"));
  }
  EXPECT_THAT(DecodeDeletionVector("short", 0).status().message(), HasSubstr("5 bytes are too few"));
}

TEST(Puffin, SparksDeletionVectorsAreReadAndWrittenTheSame) {
  const std::string file = PuffinOf("v3_deletion_vectors");
  const auto footer = ReadPuffinFooter(file);
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  ASSERT_EQ(footer->blobs.size(), 2u);
  const std::vector<int64_t> wanted[] = {{1, 5}, {0, 1, 3, 5, 7, 19}};
  PuffinWriter writer;
  for (size_t i = 0; i < 2; ++i) {
    const PuffinBlob& blob = footer->blobs[i];
    const std::string bytes = file.substr(static_cast<size_t>(blob.offset), static_cast<size_t>(blob.length));
    const auto set = DecodeDeletionVector(bytes, std::stoll(blob.properties.at("cardinality")));
    ASSERT_TRUE(set.ok()) << set.status().ToString();
    EXPECT_EQ(set->ToVector(), wanted[i]);
    EXPECT_EQ(EncodeDeletionVector(*set), bytes);
    EXPECT_EQ(writer.AddDeletionVector(EncodeDeletionVector(*set), blob.properties.at("referenced-data-file"),
                                       set->size()),
              blob);
  }
  const std::string written = writer.Finish(footer->properties.at("created-by"));
  EXPECT_EQ(written.size(), file.size());  // the order of properties is free
  EXPECT_EQ(*ReadPuffinFooter(written), *footer);
}

TEST(Puffin, SparksRunsAreRead) {
  const std::string file = PuffinOf("v3_deletion_vector_runs");
  const auto footer = ReadPuffinFooter(file);
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  const std::string bytes = file.substr(4, static_cast<size_t>(footer->blobs.at(0).length));
  const auto set = DecodeDeletionVector(bytes, 70921);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_EQ(EncodeDeletionVector(*set), bytes);
  EXPECT_TRUE(set->Contains(65536));
}

TEST(Puffin, WhatIsNoneIsNamed) {
  std::string file = PuffinOf("v3_deletion_vectors");
  const auto message = [](std::string_view bytes) { return ReadPuffinFooter(bytes).status().message(); };
  EXPECT_EQ(message("PFA1"), "no Puffin file: it does not begin and end with PFA1");
  EXPECT_EQ(message(file.substr(1)), "no Puffin file: it does not begin and end with PFA1");
  std::string changed = file;
  changed[file.size() - 8] = 1;
  EXPECT_EQ(message(changed), "no Puffin file: its footer is compressed, which is not read");
  changed = file;
  changed[file.size() - 9] = 1;
  EXPECT_THAT(message(changed), HasSubstr("its footer says 16"));
  changed = file;
  changed[changed.find("\"offset\":48") + 9] = '9';
  EXPECT_THAT(message(changed), HasSubstr("blob 1 does not lie inside the file"));
}

}  // namespace
}  // namespace caudal::iceberg
