// Snapshots of more rows than a task may be held up for: many segments, none of them long.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "data/column_builder.h"
#include "state/bytes_row.h"
#include "state/key_generations.h"
#include "state/keyed_rows.h"
#include "state/panes.h"

namespace caudal {
namespace {

using Kind = StateTable::SnapshotKind;

constexpr int64_t kRows = 60'000;
const std::string kState(40, 's');

std::string Key(int64_t i) { return "a key of some length " + std::to_string(i); }

std::vector<std::string> Segments(StateTable& table, Kind kind) {
  std::vector<std::string> segments;
  for (std::string next; !(next = table.NextSegment(kind)).empty();) segments.push_back(std::move(next));
  return segments;
}

// `put(table, i)` writes the i-th row.
template <typename Table>
void ExpectShortSegments(const std::function<std::unique_ptr<Table>()>& make,
                         const std::function<void(Table&, int64_t)>& put, bool puts_again) {
  const auto table = make();
  for (int64_t i = 0; i < kRows; ++i) put(*table, i);
  std::vector<std::string> history = Segments(*table, Kind::kDelta);
  EXPECT_GT(history.size(), 2u) << "the first holds everything";
  EXPECT_TRUE(Segments(*table, Kind::kDelta).empty());
  for (int64_t i = puts_again ? 0 : kRows; i < 2 * kRows; ++i) put(*table, i);
  const std::vector<std::string> delta = Segments(*table, Kind::kDelta);
  history.insert(history.end(), delta.begin(), delta.end());
  const std::vector<std::string> full = Segments(*table, Kind::kFull);
  EXPECT_GT(full.size(), 4u);
  EXPECT_TRUE(Segments(*table, Kind::kDelta).empty()) << "the full one told everything";
  for (const std::vector<std::string>& segments : {history, full}) {
    const auto again = make();
    ASSERT_TRUE(again->Restore(segments, {}).ok());
    EXPECT_EQ(again->rows(), table->rows());
    EXPECT_EQ(Segments(*again, Kind::kFull).size(), full.size());
  }
  for (const std::string& segment : full) {
    EXPECT_LT(segment.size(), StateTable::kSegmentBytes + StateTable::kSegmentBytes / 8);
  }
}

TEST(Snapshot, OfKeyedRowsComesInShortSegments) {
  const BytesRow codec("test");
  ExpectShortSegments<KeyedRows>([&] { return std::make_unique<KeyedRows>("rows", "STRING", &codec); },
                                 [](KeyedRows& table, int64_t i) {
                                   KeyEntry* entry = table.FindOrInsert(Key(i), RowKeys::Hash(Key(i)));
                                   BytesRow::Set(entry->row(), kState);
                                   table.Touch(entry);
                                 },
                                 true);
}

TEST(Snapshot, OfPanesComesInShortSegments) {
  const BytesRow codec("test");
  ExpectShortSegments<Panes>([&] { return std::make_unique<Panes>("panes", "STRING", "slices", &codec); },
                             [](Panes& table, int64_t i) {
                               BytesRow::Set(table.LocateOne(Key(i), RowKeys::Hash(Key(i)), i % 3), kState);
                             },
                             true);
}

TEST(Snapshot, OfKeyGenerationsComesInShortSegments) {
  ExpectShortSegments<KeyGenerations>([] { return std::make_unique<KeyGenerations>("keys", "STRING", 1000); },
                                      [](KeyGenerations& table, int64_t i) {
                                        ColumnBuilder builder(Type::String());
                                        builder.AppendString(Key(i) + kState);
                                        const Chunk chunk({builder.Finish()}, 1);
                                        RowKeys keys;
                                        keys.Encode(chunk, {0}, chunk.rows());
                                        const int64_t time = 10, clock = 0;
                                        std::vector<uint8_t> is_new;
                                        table.Remember(keys, {&time, 1}, {&clock, 1}, &is_new);
                                      },
                                      false);
}

TEST(Snapshot, AnErasedRowIsNotInWhatFollows) {
  const BytesRow codec("test");
  KeyedRows table("rows", "STRING", &codec);
  const auto put = [&](int64_t i) {
    KeyEntry* entry = table.FindOrInsert(Key(i), RowKeys::Hash(Key(i)));
    BytesRow::Set(entry->row(), kState);
    table.Touch(entry);
    return entry;
  };
  for (int64_t i = 0; i < kRows; ++i) put(i);
  std::vector<std::string> history = Segments(table, Kind::kDelta);
  for (int64_t i = 0; i < kRows; i += 2) table.Erase(put(i));
  for (std::string& segment : Segments(table, Kind::kDelta)) history.push_back(std::move(segment));
  KeyedRows again("rows", "STRING", &codec);
  ASSERT_TRUE(again.Restore(history, {}).ok());
  EXPECT_EQ(again.rows(), kRows / 2);
}

}  // namespace
}  // namespace caudal
