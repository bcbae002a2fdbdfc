#include "state/key_generations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "data/column_builder.h"
#include "data/value.h"
#include "state/record.h"
#include "state/testing/disk_map.h"
#include "state/testing/only_segment.h"

namespace caudal {
namespace {

using Kind = StateTable::SnapshotKind;

struct Row {
  std::string key;
  int64_t time;
  int64_t clock;
};

std::vector<uint8_t> Remember(KeyGenerations& table, const std::vector<Row>& rows) {
  ColumnBuilder builder(Type::String());
  std::vector<int64_t> times, clocks;
  for (const Row& row : rows) {
    builder.AppendString(row.key);
    times.push_back(row.time);
    clocks.push_back(row.clock);
  }
  const Chunk chunk({builder.Finish()}, static_cast<int32_t>(rows.size()));
  RowKeys keys;
  keys.Encode(chunk, {0}, chunk.rows());
  std::vector<uint8_t> is_new;
  table.Remember(keys, times, clocks, &is_new);
  return is_new;
}

std::string Uuid(uint64_t n) {
  char text[40];
  std::snprintf(text, sizeof(text), "%08x-0000-4000-8000-%012x", static_cast<unsigned>(n * 2654435761u),
                static_cast<unsigned>(n));
  return text;
}

// A restored set begins with small segments, each of which takes the next of what was written.
TEST(KeySegment, WhatIsVisitedFirstFillsASmallerOneEvenly) {
  constexpr int kKeys = 100'000;
  KeySegment large(kKeys, 0);
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = "key " + std::to_string(i);
    large.Insert(key, RowKeys::Hash(key), i);
  }
  std::vector<std::pair<std::string, int64_t>> visited;
  size_t at = 0;
  while (large.VisitSome(&at, [&](std::string_view key, int64_t time) { visited.emplace_back(key, time); }))
    continue;
  ASSERT_EQ(visited.size(), static_cast<size_t>(kKeys));
  size_t next = 0;
  for (const int64_t keys : {500, 4'000, 32'000}) {
    KeySegment small(keys, 0);
    for (; !small.full(); ++next) {
      const auto& [key, time] = visited[next];
      small.Insert(key, RowKeys::Hash(key), time);
    }
    // Nearly full, some run over into the next bucket or two.
    EXPECT_LT(small.passed_buckets(), 3 * keys);
  }
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(std::unique(visited.begin(), visited.end()), visited.end()) << "each once";
}

TEST(KeyGenerations, KeyIsKnownUntilItsRetentionHasPassed) {
  KeyGenerations table("keys", "STRING", 100);
  EXPECT_EQ(Remember(table, {{"a", 1000, 0}, {"a", 1001, 1000}, {"a", 2000, 1099}, {"b", 1000, 0}}),
            (std::vector<uint8_t>{1, 0, 0, 1}));
  // At first time + retain the key is new again, and its retention starts anew.
  EXPECT_EQ(Remember(table, {{"a", 1500, 1100}, {"a", 1600, 1599}, {"a", 1700, 1600}}),
            (std::vector<uint8_t>{1, 0, 1}));
}

TEST(KeyGenerations, ExpiryDropsWhatNoClockCanReach) {
  KeyGenerations table("keys", "STRING", 100);
  Remember(table, {{Uuid(1), 1000, 0}, {Uuid(2), 1024, 0}, {Uuid(3), 1025, 0}});
  EXPECT_EQ(table.rows(), 3);
  table.Expire({1123, 0});
  EXPECT_EQ(table.rows(), 3);
  table.Expire({1124, 0});  // 1000 … 1024 share a generation of 25 ms
  EXPECT_EQ(table.rows(), 1);
  table.Expire({Watermark::kEnd, 0});
  EXPECT_EQ(table.rows(), 0);
  EXPECT_LT(table.bytes(), 64);
}

TEST(KeyGenerations, FewGenerationsHoweverSparseTheTimes) {
  KeyGenerations table("keys", "STRING", 1000);
  for (int i = 0; i < 2000; ++i) Remember(table, {{Uuid(static_cast<uint64_t>(i)), i * 100'000, 0}});
  EXPECT_LE(table.generation_count(), 8u);
  EXPECT_EQ(Remember(table, {{Uuid(1), 5, 0}, {Uuid(1999), 5, 0}}), (std::vector<uint8_t>{0, 0}));
}

// Keys at a steady rate, with clocks and the watermark as far back as keys are kept.
TEST(KeyGenerations, MemoryAKeyStaysSmall) {
  constexpr int64_t kRetain = 60'000, kKeysAMilli = 10;
  KeyGenerations table("keys", "STRING", kRetain);
  double sum = 0;
  int samples = 0;
  uint64_t n = 0;
  for (int64_t now = kRetain; now < 6 * kRetain; now += 100) {
    std::vector<Row> rows;
    for (int64_t i = 0; i < 100 * kKeysAMilli; ++i) {
      rows.push_back({Uuid(n++), now + i / kKeysAMilli, now - kRetain});
    }
    Remember(table, rows);
    table.Expire({now - kRetain, 0});
    if (now < 4 * kRetain) continue;
    sum += static_cast<double>(table.bytes()) / static_cast<double>(table.rows());
    ++samples;
  }
  EXPECT_GT(table.rows(), 2 * kRetain * kKeysAMilli);
  EXPECT_LE(sum / samples, 27.0);
}

TEST(KeyGenerations, KeysThatWentBeforeTheSnapshotAreNotInIt) {
  KeyGenerations table("keys", "STRING", 100);
  EXPECT_EQ(OnlySegment(table, Kind::kFull), "");
  for (int64_t now = 1000; now < 10'000; now += 10) {
    Remember(table, {{Uuid(now), now, now - 100}});
    table.Expire({now - 100, 0});
  }
  const int64_t before = table.bytes();
  const std::string segment = OnlySegment(table, Kind::kDelta);
  EXPECT_LT(segment.size(), 40 * 30u) << "900 keys came, of which some 20 are known";
  KeyGenerations other("keys", "STRING", 100);
  ASSERT_TRUE(other.Restore({segment}, {}).ok());
  EXPECT_EQ(other.rows(), table.rows());
  EXPECT_LT(table.bytes(), before) << "what was handed over is not held";
  EXPECT_EQ(OnlySegment(table, Kind::kDelta), "");
}

TEST(KeyGenerations, ManyChangesAreManySegments) {
  constexpr int64_t kKeys = 150'000;  // of 26 bytes each
  KeyGenerations table("keys", "STRING", 100);
  EXPECT_EQ(OnlySegment(table, Kind::kFull), "");
  for (int64_t i = 0; i < kKeys; ++i) Remember(table, {{Uuid(i), 1000 + i % 300, 0}});
  std::vector<std::string> segments;
  for (std::string next; !(next = table.NextSegment(Kind::kDelta)).empty();) {
    EXPECT_LE(next.size(), StateTable::kSegmentBytes);
    segments.push_back(std::move(next));
  }
  EXPECT_GE(segments.size(), 4u);
  KeyGenerations other("keys", "STRING", 100);
  ASSERT_TRUE(other.Restore(segments, {}).ok());
  EXPECT_EQ(other.rows(), kKeys);
}

TEST(KeyGenerations, DamageIsADataError) {
  KeyGenerations table("keys", "STRING", 100);
  Remember(table, {{Uuid(1), 1000, 0}, {"short", 1000, 0}});
  const std::string segment = OnlySegment(table, StateTable::SnapshotKind::kDelta);
  for (size_t size = 1; size < segment.size(); ++size) {
    KeyGenerations other("keys", "STRING", 100);
    const Status status = other.Restore({segment.substr(0, size)}, {});
    EXPECT_TRUE(status.ok() || status.domain() == Domain::kData);
  }
  KeyGenerations other("keys", "STRING", 100);
  EXPECT_EQ(other.Restore({"KGEN\x09"}, {}).ToString(),
            "error[data]: state table 'keys': segment format 9 is not known\n"
            "  hint: restore it with the release that wrote it, or a newer one");
}

// What DEDUPLICATE asks of a set of keys, so that one test holds for any store.
class MemorySet {
 public:
  explicit MemorySet(int64_t retain) : table_("keys", "STRING", retain) {}
  std::vector<uint8_t> RememberAll(const std::vector<Row>& rows) { return Remember(table_, rows); }
  void Expire(int64_t watermark) { table_.Expire({watermark, 0}); }
  std::string Snapshot(Kind kind) { return OnlySegment(table_, kind); }
  Status Restore(const std::vector<std::string>& segments) { return table_.Restore(segments, {}); }

 private:
  KeyGenerations table_;
};

// The same on disk, a row a key, which speaks the same segments.
class DiskSet {
 public:
  explicit DiskSet(int64_t retain) : retain_(retain) {}
  std::vector<uint8_t> RememberAll(const std::vector<Row>& rows) {
    std::vector<uint8_t> is_new;
    for (const Row& row : rows) {
      const std::string key = KeyOf(row.key);
      std::string time;
      is_new.push_back(!keys_.Find(key, &time) || row.clock >= std::stoll(time) + retain_);
      if (is_new.back() != 0) keys_.Put(key, std::to_string(row.time));
    }
    return is_new;
  }
  void Expire(int64_t watermark) {
    for (const auto& [key, time] : keys_.all()) {
      if (watermark >= std::stoll(time) + retain_) keys_.Erase(key);
    }
  }
  std::string Snapshot(Kind kind) {
    std::string segment = "KGEN\x01";
    for (const auto& [key, time] : kind == Kind::kDelta && tracking_ ? keys_.changed() : keys_.all()) {
      PutBytes(key, &segment);
      PutFixed64(static_cast<uint64_t>(std::stoll(time)), &segment);
    }
    keys_.ForgetChanges();
    tracking_ = true;
    return segment.size() == 5 ? "" : segment;
  }
  Status Restore(const std::vector<std::string>& segments) {
    for (const std::string& segment : segments) {
      RecordReader reader(segment);
      RETURN_IF_ERROR(ExpectHeader("KGEN", 1, "keys", &reader));
      while (!reader.empty()) {
        const std::string key(reader.Bytes());
        const int64_t time = static_cast<int64_t>(reader.Fixed64());
        if (!reader.ok()) return DamagedSegment("keys");
        std::string known;
        if (!keys_.Find(key, &known) || std::stoll(known) < time) keys_.Put(key, std::to_string(time));
      }
    }
    keys_.ForgetChanges();
    tracking_ = true;
    return Status();
  }

 private:
  static std::string KeyOf(const std::string& text) {
    std::string key;
    AppendKeyValue(*ConstantColumn(Type::String(), Value(text), 1), 0, &key);
    return key;
  }

  int64_t retain_;
  DiskMap keys_;
  bool tracking_ = false;
};

// Against a map, with snapshots of both kinds, restores and expiry at every step; the segments of one store
// restore the other.
template <typename Store, typename Other>
void CheckGenerationsContract(uint64_t seeds) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed);
    const int64_t retain = static_cast<int64_t>(random() % 500) + 1;
    auto store = std::make_unique<Store>(retain);
    std::unique_ptr<Other> other;          // since it was restored beside `store`
    std::map<std::string, int64_t> model;  // key → first time
    std::vector<std::string> segments;
    int64_t watermark = 0;
    for (int step = 0; step < 60; ++step) {
      std::vector<Row> rows;
      std::vector<uint8_t> expected;
      for (size_t i = 0; i < random() % 40; ++i) {
        const uint64_t n = random() % 50;
        Row row{n % 3 == 0 ? "key" + std::to_string(n) : Uuid(n), 0, 0};
        row.clock = watermark + static_cast<int64_t>(random() % 50);
        row.time = row.clock + 1 + static_cast<int64_t>(random() % 200);
        const auto found = model.find(row.key);
        expected.push_back(found == model.end() || row.clock >= found->second + retain);
        if (expected.back() != 0) model[row.key] = row.time;
        rows.push_back(row);
      }
      ASSERT_EQ(store->RememberAll(rows), expected) << "seed " << seed << " step " << step;
      if (other != nullptr) {
        ASSERT_EQ(other->RememberAll(rows), expected) << "seed " << seed << " step " << step;
        other.reset();
      }
      watermark += static_cast<int64_t>(random() % 60);
      store->Expire(watermark);
      if (random() % 3 != 0) continue;
      const bool full = random() % 4 == 0;
      std::string segment = store->Snapshot(full ? Kind::kFull : Kind::kDelta);
      ASSERT_EQ(store->Snapshot(Kind::kDelta), "") << "nothing changed since";
      if (full) segments.clear();
      if (!segment.empty()) segments.push_back(std::move(segment));
      if (random() % 2 != 0) continue;
      store = std::make_unique<Store>(retain);
      ASSERT_TRUE(store->Restore(segments).ok());
      other = std::make_unique<Other>(retain);
      ASSERT_TRUE(other->Restore(segments).ok());
    }
  }
}

TEST(KeyGenerations, ContractInMemory) { CheckGenerationsContract<MemorySet, DiskSet>(30); }
TEST(KeyGenerations, ContractOnDisk) { CheckGenerationsContract<DiskSet, MemorySet>(6); }

TEST(KeyGenerations, RescaleKeepsEachKeyInOneRange) {
  KeyGenerations whole("keys", "STRING", 1000);
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 5000; ++i) rows.push_back({Uuid(i), 10, 0});
  for (size_t at = 0; at < rows.size(); at += 1000) {
    Remember(whole, std::vector<Row>(rows.begin() + static_cast<std::ptrdiff_t>(at),
                                     rows.begin() + static_cast<std::ptrdiff_t>(at + 1000)));
  }
  const std::vector<std::string> segments = {OnlySegment(whole, StateTable::SnapshotKind::kFull)};
  KeyGenerations low("keys", "STRING", 1000), high("keys", "STRING", 1000);
  ASSERT_TRUE(low.Restore(segments, {0, 49}).ok());
  ASSERT_TRUE(high.Restore(segments, {50, 127}).ok());
  EXPECT_GT(low.rows(), 1000);
  EXPECT_EQ(low.rows() + high.rows(), whole.rows());
}

}  // namespace
}  // namespace caudal
