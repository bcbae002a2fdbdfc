#include "state/panes.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "data/column_builder.h"
#include "state/bytes_row.h"
#include "state/record.h"
#include "state/testing/disk_map.h"
#include "state/testing/only_segment.h"

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

// What windows ask of their panes, so that one test holds for any store.
class MemoryPanes {
 public:
  void PutAll(const std::vector<std::pair<Place, std::string>>& panes) {
    ColumnBuilder builder(Type::String());
    std::vector<int64_t> slices, from_ends;
    for (const auto& [place, value] : panes) {
      builder.AppendString(std::get<1>(place));
      slices.push_back(std::get<0>(place));
      from_ends.push_back(std::get<2>(place));
    }
    const Chunk chunk({builder.Finish()}, static_cast<int32_t>(panes.size()));
    RowKeys keys;
    keys.Encode(chunk, {0}, chunk.rows());
    std::vector<char*> rows;
    table_.Locate(keys, slices, from_ends, &rows);
    for (size_t i = 0; i < rows.size(); ++i) BytesRow::Set(rows[i], panes[i].second);
  }
  std::map<Place, std::string> Contents() const {
    std::map<Place, std::string> all;
    auto visit = [&](KeyEntry* entry) {
      int64_t last = std::numeric_limits<int64_t>::min();
      for (const Pane pane : table_.panes(*entry)) {
        EXPECT_GE(pane.slice, last);
        last = pane.slice;
        all.emplace(Place{pane.slice, table_.key(*entry), pane.from_end()}, BytesRow::Get(pane.row));
      }
    };
    for (int group = 0; group < kKeyGroups; ++group) table_.WalkGroup(group, visit);
    EXPECT_EQ(table_.rows(), static_cast<int64_t>(all.size()));
    return all;
  }
  void DropBefore(int64_t slice) {
    while (!table_.DropBefore(slice, 3)) continue;
  }
  std::string Snapshot(Kind kind) { return OnlySegment(table_, kind); }
  Status Restore(const std::vector<std::string>& segments) { return table_.Restore(segments, {}); }
  void ExpectSmall() const {
    EXPECT_EQ(table_.rows(), 0);
    EXPECT_EQ(table_.key_count(), 0);
    EXPECT_LT(table_.bytes(), 64 * 1024) << "an emptied table is small again";
  }

 private:
  BytesRow codec_{"test"};
  Panes table_{"panes", "STRING", "slices", &codec_};
};

// The same on disk, a row a pane, which speaks the same segments.
class DiskPanes {
 public:
  void PutAll(const std::vector<std::pair<Place, std::string>>& panes) {
    for (const auto& [place, value] : panes) {
      panes_.Put(DiskKey({std::get<0>(place), KeyOf(std::get<1>(place)), std::get<2>(place)}), value);
    }
  }
  std::map<Place, std::string> Contents() { return Places(panes_.all()); }
  void DropBefore(int64_t slice) {
    for (const auto& [key, value] : panes_.all()) {
      if (std::get<0>(PlaceOf(key)) < slice) panes_.Erase(key);
    }
  }
  std::string Snapshot(Kind kind) {
    const auto panes = Places(kind == Kind::kDelta && tracking_ ? panes_.changed() : panes_.all());
    std::string segment;
    for (const auto& [place, value] : panes) {
      if (segment.empty()) segment = "PANE\x01";
      const auto& [slice, key, from_end] = place;
      PutFixed64(static_cast<uint64_t>(slice), &segment);
      PutVarint(1, &segment);
      PutBytes(key, &segment);
      PutFixed64(static_cast<uint64_t>(from_end), &segment);
      std::string row;
      PutBytes(value, &row);
      PutBytes(row, &segment);
    }
    panes_.ForgetChanges();
    tracking_ = true;
    return segment;
  }
  Status Restore(const std::vector<std::string>& segments) {
    for (const std::string& segment : segments) {
      RecordReader reader(segment);
      RETURN_IF_ERROR(ExpectHeader("PANE", 1, "panes", &reader));
      while (!reader.empty()) {
        const int64_t slice = static_cast<int64_t>(reader.Fixed64());
        for (uint64_t left = reader.Varint(); left > 0; --left) {
          const std::string key(reader.Bytes());
          const int64_t from_end = static_cast<int64_t>(reader.Fixed64());
          RecordReader row(reader.Bytes());
          if (!reader.ok()) return DamagedSegment("panes");
          panes_.Put(DiskKey({slice, key, from_end}), std::string(row.Bytes()));
        }
      }
    }
    panes_.ForgetChanges();
    tracking_ = true;
    return Status();
  }
  void ExpectSmall() { EXPECT_TRUE(panes_.all().empty()); }

 private:
  static std::string DiskKey(const Place& place) {
    std::string key;
    PutFixed64(static_cast<uint64_t>(std::get<0>(place)), &key);
    PutFixed64(static_cast<uint64_t>(std::get<2>(place)), &key);
    return key + std::get<1>(place);
  }
  static Place PlaceOf(const std::string& key) {
    RecordReader reader(key);
    const int64_t slice = static_cast<int64_t>(reader.Fixed64());
    const int64_t from_end = static_cast<int64_t>(reader.Fixed64());
    return {slice, std::string(reader.rest()), from_end};
  }
  static std::map<Place, std::string> Places(const std::map<std::string, std::string>& panes) {
    std::map<Place, std::string> places;
    for (const auto& [key, value] : panes) places.emplace(PlaceOf(key), value);
    return places;
  }

  DiskMap panes_;
  bool tracking_ = false;
};

// Random panes, dropped slices, snapshots and restores against a map; the segments of one store restore the
// other.
template <typename Store, typename Other>
void CheckPanesContract(uint64_t seeds) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed);
    auto store = std::make_unique<Store>();
    std::map<Place, std::string> model;
    std::vector<std::string> segments;
    int64_t oldest = 0;
    for (int step = 0; step < 40; ++step) {
      std::vector<std::pair<Place, std::string>> panes;
      for (size_t i = 0; i < random() % 30; ++i) {
        const int64_t slice = oldest + static_cast<int64_t>(random() % 12);
        const std::string key = "k" + std::to_string(random() % 8);
        const int64_t from_end = random() % 4 == 0 ? slice + 3 : Panes::kAllEnds;
        panes.push_back({{slice, key, from_end}, std::to_string(random() % 1000)});
        model[{slice, KeyOf(key), from_end}] = panes.back().second;
      }
      store->PutAll(panes);
      ASSERT_EQ(store->Contents(), model) << "seed " << seed << " step " << step;
      if (random() % 3 == 0) {
        oldest += static_cast<int64_t>(random() % 5);
        store->DropBefore(oldest);
        std::erase_if(model, [oldest](const auto& pane) { return std::get<0>(pane.first) < oldest; });
      }
      if (random() % 2 == 0) continue;
      const Kind kind = random() % 4 == 0 ? Kind::kFull : Kind::kDelta;
      std::string segment = store->Snapshot(kind);
      ASSERT_EQ(store->Snapshot(Kind::kDelta), "") << "nothing changed since";
      if (kind == Kind::kFull) segments.clear();
      if (!segment.empty()) segments.push_back(std::move(segment));
      if (random() % 2 != 0) continue;
      auto other = std::make_unique<Other>();
      ASSERT_TRUE(other->Restore(segments).ok());
      other->DropBefore(oldest);
      ASSERT_EQ(other->Contents(), model) << "seed " << seed << " step " << step;
      store = std::make_unique<Store>();
      ASSERT_TRUE(store->Restore(segments).ok());
      store->DropBefore(oldest);
    }
    store->DropBefore(std::numeric_limits<int64_t>::max());
    store->ExpectSmall();
  }
}

TEST(Panes, ContractInMemory) { CheckPanesContract<MemoryPanes, DiskPanes>(60); }
TEST(Panes, ContractOnDisk) { CheckPanesContract<DiskPanes, MemoryPanes>(6); }

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

// Memory of windows is panes times this: a header of 8 bytes, the row, where it stands in the lists of its
// key (8 bytes, and at most a third of their room is left) and of its slice (4).
TEST(Panes, APaneTakesLittleMoreThanItsRow) {
  constexpr int64_t kKeys = 1000, kSlices = 48;
  const BytesRow codec("test");
  Panes table("panes", "STRING", "slices", &codec);
  for (int64_t slice = 0; slice < kSlices; ++slice) {
    for (int64_t key = 0; key < kKeys; ++key) {
      const std::string text = std::to_string(key);
      table.LocateOne(text, RowKeys::Hash(text), slice);
    }
  }
  const double a_pane = static_cast<double>(table.bytes()) / static_cast<double>(table.rows());
  EXPECT_LE(a_pane - static_cast<double>(codec.width()), 8 + 8 * 3 / 2.0 + 4 + 4);
}

TEST(Panes, WhatHangsFromAPaneCounts) {
  const BytesRow codec("test");
  Panes table("panes", "STRING", "slices", &codec);
  BytesRow::Set(table.LocateOne("key", RowKeys::Hash("key"), 1), std::string(5000, 'x'));
  const std::string segment = OnlySegment(table, Kind::kFull);
  const int64_t empty = table.bytes();
  Panes other("panes", "STRING", "slices", &codec);
  ASSERT_TRUE(other.Restore({segment}, {}).ok());
  EXPECT_EQ(other.bytes() - empty, 8192) << "to the next power of two";
  EXPECT_TRUE(other.DropBefore(2, 1));
  EXPECT_LT(other.bytes(), empty);
}

TEST(Panes, DamageIsADataError) {
  const BytesRow codec("test");
  Panes table("panes", "STRING", "slices", &codec);
  for (int64_t slice : {1, 2}) BytesRow::Set(table.LocateOne("key", RowKeys::Hash("key"), slice), "value");
  const std::string segment = OnlySegment(table, Kind::kFull);
  for (size_t size = 0; size < segment.size(); ++size) {
    Panes other("panes", "STRING", "slices", &codec);
    const Status status = other.Restore({segment.substr(0, size)}, {});
    EXPECT_TRUE(status.ok() || status.domain() == Domain::kData);
  }
}

}  // namespace
}  // namespace caudal
