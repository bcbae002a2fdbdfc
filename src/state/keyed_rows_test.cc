#include "state/keyed_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "state/bytes_row.h"
#include "state/record.h"
#include "state/testing/disk_map.h"
#include "state/testing/only_segment.h"

namespace caudal {
namespace {

using Kind = StateTable::SnapshotKind;

// What operators ask of rows by key, so that one test holds for any store.
class RowStore {
 public:
  virtual ~RowStore() = default;
  virtual void Put(const std::string& key, const std::string& row) = 0;
  virtual void Erase(const std::string& key) = 0;
  virtual std::map<std::string, std::string> Contents() = 0;
  virtual std::string Snapshot(Kind kind) = 0;
  virtual Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) = 0;
  virtual int64_t rows() = 0;
};

class MemoryStore : public RowStore {
 public:
  void Put(const std::string& key, const std::string& row) override {
    KeyEntry* entry = table_.FindOrInsert(key, RowKeys::Hash(key));
    BytesRow::Set(entry->row(), row);
    table_.Touch(entry);
  }
  void Erase(const std::string& key) override {
    if (!Contents().contains(key)) return;
    table_.Erase(table_.FindOrInsert(key, RowKeys::Hash(key)));
  }
  std::map<std::string, std::string> Contents() override {
    std::map<std::string, std::string> all;
    KeyedRows::Cursor cursor;
    table_.Walk(&cursor, [&](KeyEntry* entry) {
      all.emplace(table_.key(*entry), BytesRow::Get(entry->row()));
      return true;
    });
    return all;
  }
  std::string Snapshot(Kind kind) override { return OnlySegment(table_, kind); }
  Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) override {
    return table_.Restore(segments, groups);
  }
  int64_t rows() override { return table_.rows(); }

 private:
  BytesRow codec_{"test"};
  KeyedRows table_{"rows", "STRING", &codec_};
};

// A store on disk with the same segments, as a spilling one would have.
class DiskStore : public RowStore {
 public:
  void Put(const std::string& key, const std::string& row) override { rows_.Put(key, row); }
  void Erase(const std::string& key) override { rows_.Erase(key); }
  std::map<std::string, std::string> Contents() override { return rows_.all(); }
  std::string Snapshot(Kind kind) override {
    std::string segment = "KROW\x01";
    const bool delta = kind == Kind::kDelta && tracking_;
    if (delta) {
      for (const auto& [key, none] : rows_.erased()) {
        PutBytes(key, &segment);
        segment.push_back(0);
      }
    }
    for (const auto& [key, row] : delta ? rows_.changed() : rows_.all()) {
      PutBytes(key, &segment);
      segment.push_back(1);
      PutFixed64(0, &segment);
      std::string value;
      PutBytes(row, &value);
      PutBytes(value, &segment);
    }
    rows_.ForgetChanges();
    tracking_ = true;
    return segment.size() == 5 ? "" : segment;
  }
  Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) override {
    for (const std::string& segment : segments) {
      RecordReader reader(segment);
      RETURN_IF_ERROR(ExpectHeader("KROW", 1, "rows", &reader));
      while (!reader.empty()) {
        const std::string key(reader.Bytes());
        const bool row = reader.Byte() == 1;
        if (row) reader.Fixed64();
        RecordReader value(row ? reader.Bytes() : std::string_view());
        if (!reader.ok()) return DamagedSegment("rows");
        if (!groups.Contains(RowKeys::KeyGroup(RowKeys::Hash(key)))) continue;
        if (row) {
          rows_.Put(key, std::string(value.Bytes()));
        } else {
          rows_.Erase(key);
        }
      }
    }
    rows_.ForgetChanges();
    tracking_ = true;
    return Status();
  }
  int64_t rows() override { return static_cast<int64_t>(Contents().size()); }

 private:
  DiskMap rows_;
  bool tracking_ = false;
};

// Random operations with snapshots and restores at every step agree with a map; segments of one store restore
// the other.
template <typename Store, typename Other>
void CheckRowsContract(uint64_t seeds) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed);
    std::unique_ptr<RowStore> store = std::make_unique<Store>();
    std::map<std::string, std::string> model;
    std::vector<std::string> segments;
    for (int step = 0; step < 40; ++step) {
      for (size_t i = 0; i < random() % 12; ++i) {
        const std::string key = "key" + std::to_string(random() % 30);
        if (random() % 3 == 0) {
          store->Erase(key);
          model.erase(key);
        } else {
          const std::string row(random() % 40, static_cast<char>('a' + random() % 26));
          store->Put(key, row);
          model[key] = row;
        }
      }
      ASSERT_EQ(store->Contents(), model) << "seed " << seed << " step " << step;
      ASSERT_EQ(store->rows(), static_cast<int64_t>(model.size()));
      if (random() % 2 == 0) continue;
      const Kind kind = random() % 4 == 0 ? Kind::kFull : Kind::kDelta;
      std::string segment = store->Snapshot(kind);
      ASSERT_EQ(store->Snapshot(Kind::kDelta), "") << "nothing changed since";
      if (kind == Kind::kFull) segments.clear();
      if (!segment.empty()) segments.push_back(std::move(segment));
      if (random() % 2 == 0) {
        std::unique_ptr<RowStore> other = std::make_unique<Other>();
        ASSERT_TRUE(other->Restore(segments, {}).ok());
        ASSERT_EQ(other->Contents(), model) << "seed " << seed << " step " << step;
        store = std::make_unique<Store>();
        ASSERT_TRUE(store->Restore(segments, {}).ok());
      }
    }
    std::unique_ptr<RowStore> low = std::make_unique<Store>(), high = std::make_unique<Other>();
    const std::vector<std::string> all = {store->Snapshot(Kind::kFull)};
    if (all[0].empty()) continue;
    ASSERT_TRUE(low->Restore(all, {0, 40}).ok());
    ASSERT_TRUE(high->Restore(all, {41, 127}).ok());
    auto both = low->Contents();
    both.merge(high->Contents());
    EXPECT_EQ(both, model);
  }
}

TEST(KeyedRows, ContractInMemory) { CheckRowsContract<MemoryStore, DiskStore>(40); }
TEST(KeyedRows, ContractOnDisk) { CheckRowsContract<DiskStore, MemoryStore>(10); }

TEST(KeyedRows, RowsThatNobodyTouchesExpireByProcessingTime) {
  BytesRow codec("test");
  KeyedRows table("rows", "STRING", &codec, /*ttl=*/1000);
  auto touch = [&](const char* key) {
    KeyEntry* entry = table.FindOrInsert(key, RowKeys::Hash(key));
    BytesRow::Set(entry->row(), "x");
    table.Touch(entry);
  };
  table.Expire({0, 5000});
  touch("a");
  table.Expire({0, 5500});
  touch("b");
  table.Expire({0, 6000});
  EXPECT_EQ(table.rows(), 1);
  const std::string segment = OnlySegment(table, Kind::kFull);
  KeyedRows again("rows", "STRING", &codec, 1000);
  ASSERT_TRUE(again.Restore({segment}, {}).ok());
  again.Expire({0, 6499});
  EXPECT_EQ(again.rows(), 1);
  again.Expire({0, 6500});
  EXPECT_EQ(again.rows(), 0);
}

TEST(KeyedRows, DamageIsADataError) {
  BytesRow codec("test");
  KeyedRows table("rows", "STRING", &codec);
  for (const char* key : {"a", "bb", "ccc"}) {
    KeyEntry* entry = table.FindOrInsert(key, RowKeys::Hash(key));
    BytesRow::Set(entry->row(), "value");
    table.Touch(entry);
  }
  const std::string segment = OnlySegment(table, Kind::kFull);
  for (size_t size = 0; size < segment.size(); ++size) {
    KeyedRows other("rows", "STRING", &codec);
    const Status status = other.Restore({segment.substr(0, size)}, {});
    EXPECT_TRUE(status.ok() || status.domain() == Domain::kData);
  }
}

}  // namespace
}  // namespace caudal
