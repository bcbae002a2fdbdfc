#include "state/panes.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "data/column_builder.h"
#include "state/bytes_row.h"

namespace caudal {
namespace {

using Kind = StateTable::SnapshotKind;
using Place = std::tuple<int64_t, std::string, int64_t>;  // slice, key, from_end

std::string KeyOf(const std::string& text) {
  ColumnBuilder builder(Type::String());
  builder.AppendString(text);
  std::string key;
  AppendKeyValue(*builder.Finish(), 0, &key);
  return key;
}

std::map<Place, std::string> Contents(const Panes& table) {
  std::map<Place, std::string> all;
  Panes::Cursor cursor;
  table.Walk(&cursor, [&](KeyEntry* entry) {
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const Panes::Pane& pane : table.panes(*entry)) {
      EXPECT_GE(pane.slice, last);
      last = pane.slice;
      all.emplace(Place{pane.slice, table.key(*entry), pane.from_end()}, BytesRow::Get(pane.row));
    }
    return true;
  });
  return all;
}

// Random panes, dropped slices, snapshots and restores against a map.
TEST(Panes, RandomOperationsAgreeWithAMap) {
  const BytesRow codec("test");
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    auto table = std::make_unique<Panes>("panes", "STRING", "slices", &codec);
    std::map<Place, std::string> model;
    std::vector<std::string> segments;
    int64_t oldest = 0;
    for (int step = 0; step < 40; ++step) {
      ColumnBuilder builder(Type::String());
      std::vector<int64_t> slices, from_ends;
      std::vector<std::string> texts;
      for (size_t i = 0; i < random() % 30; ++i) {
        texts.push_back("k" + std::to_string(random() % 8));
        builder.AppendString(texts.back());
        slices.push_back(oldest + static_cast<int64_t>(random() % 12));
        from_ends.push_back(random() % 4 == 0 ? slices.back() + 3 : Panes::kAllEnds);
      }
      const Chunk chunk({builder.Finish()}, static_cast<int32_t>(texts.size()));
      RowKeys keys;
      keys.Encode(chunk, {0}, chunk.rows());
      std::vector<char*> rows;
      table->Locate(keys, slices, from_ends, &rows);
      for (size_t i = 0; i < rows.size(); ++i) {
        const std::string value = std::to_string(random() % 1000);
        BytesRow::Set(rows[i], value);
        model[{slices[i], KeyOf(texts[i]), from_ends[i]}] = value;
      }
      ASSERT_EQ(Contents(*table), model) << "seed " << seed << " step " << step;
      ASSERT_EQ(table->rows(), static_cast<int64_t>(model.size()));
      if (random() % 3 == 0) {
        oldest += static_cast<int64_t>(random() % 5);
        while (!table->DropBefore(oldest, 3)) continue;
        std::erase_if(model, [oldest](const auto& pane) { return std::get<0>(pane.first) < oldest; });
      }
      if (random() % 2 == 0) continue;
      const Kind kind = random() % 4 == 0 ? Kind::kFull : Kind::kDelta;
      std::string segment = table->Snapshot(kind);
      ASSERT_EQ(table->Snapshot(Kind::kDelta), "");
      if (kind == Kind::kFull) segments.clear();
      if (!segment.empty()) segments.push_back(std::move(segment));
      if (random() % 2 == 0) {
        table = std::make_unique<Panes>("panes", "STRING", "slices", &codec);
        ASSERT_TRUE(table->Restore(segments, {}).ok());
        table->DropBefore(oldest, std::numeric_limits<int64_t>::max());
      }
    }
    table->DropBefore(std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max());
    EXPECT_EQ(table->rows(), 0);
    EXPECT_EQ(table->key_count(), 0);
    EXPECT_LT(table->bytes(), 64 * 1024) << "an emptied table is small again";
  }
}

TEST(Panes, TouchedPanesAreTakenOnceInOrder) {
  const BytesRow codec("test");
  Panes table("panes", "STRING", "slices", &codec);
  table.RememberTouched();
  for (int64_t slice : {7, 3, 7}) table.LocateOne("a", RowKeys::Hash("a"), slice);
  table.LocateOne("b", RowKeys::Hash("b"), 5);
  const std::vector<Panes::Touched> touched = table.TakeTouched();
  ASSERT_EQ(touched.size(), 3u);
  for (size_t i = 1; i < touched.size(); ++i) {
    EXPECT_TRUE(touched[i - 1].entry == touched[i].entry
                    ? touched[i - 1].slice < touched[i].slice
                    : table.Before(touched[i - 1].entry, touched[i].entry));
  }
  EXPECT_TRUE(table.TakeTouched().empty());
  table.LocateOne("a", RowKeys::Hash("a"), 3);
  EXPECT_EQ(table.TakeTouched().size(), 1u);
}

TEST(Panes, DamageIsADataError) {
  const BytesRow codec("test");
  Panes table("panes", "STRING", "slices", &codec);
  for (int64_t slice : {1, 2}) BytesRow::Set(table.LocateOne("key", RowKeys::Hash("key"), slice), "value");
  const std::string segment = table.Snapshot(Kind::kFull);
  for (size_t size = 0; size < segment.size(); ++size) {
    Panes other("panes", "STRING", "slices", &codec);
    const Status status = other.Restore({segment.substr(0, size)}, {});
    EXPECT_TRUE(status.ok() || status.domain() == Domain::kData);
  }
}

}  // namespace
}  // namespace caudal
