#include "state/key_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace caudal {
namespace {

// Against a map ordered as a walk is, with few hashes so that they collide, through growth and shrinking.
TEST(KeyTable, RandomOperationsAgreeWithAMap) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    KeyTable table(8);
    std::map<std::pair<uint64_t, std::string>, int64_t> model;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t n = random() % 400;
      const std::string key = "k" + std::to_string(n);
      const uint64_t hash = seed % 2 == 0 ? RowKeys::Hash(key) : (n % 7) * 0x0123456789abcdefu + (n % 3);
      const bool grow = (step / 1000) % 2 == 0;
      if (grow ? random() % 4 != 0 : random() % 4 == 0) {
        bool inserted;
        KeyEntry* entry = table.FindOrInsert(key, hash, &inserted);
        EXPECT_EQ(inserted, model.find({hash, key}) == model.end());
        const int64_t value = static_cast<int64_t>(random());
        std::memcpy(entry->row(), &value, sizeof(value));
        model[{hash, key}] = value;
      } else if (KeyEntry* entry = table.Find(key, hash)) {
        table.Erase(entry);
        EXPECT_EQ(model.erase({hash, key}), 1u);
      } else {
        EXPECT_EQ(model.count({hash, key}), 0u);
      }
      ASSERT_EQ(table.size(), static_cast<int64_t>(model.size()));
    }
    auto expected = model.begin();
    table.ForEach([&](KeyEntry* entry) {
      ASSERT_NE(expected, model.end());
      EXPECT_EQ(table.key(*entry), expected->first.second);
      int64_t value;
      std::memcpy(&value, entry->row(), sizeof(value));
      EXPECT_EQ(value, expected->second);
      ++expected;
    });
    EXPECT_EQ(expected, model.end());
    while (!model.empty()) {
      table.Erase(table.Find(model.begin()->first.second, model.begin()->first.first));
      model.erase(model.begin());
    }
    EXPECT_LT(table.bytes(), 128 * 24 * 16) << "an emptied table is small again";
  }
}

// A table that is made of the first entries of a group begins with all of its hashes, not with the lowest.
TEST(KeyTable, AnEvenWalkIsAllOverAGroupWhereverItStops) {
  KeyTable table(8);
  constexpr int kKeys = 2000;
  constexpr uint64_t kLastOfTheFirstGroup = (uint64_t{1} << 57) - 1;
  for (uint64_t i = 0; i < kKeys; ++i) {
    bool inserted;
    table.FindOrInsert("k" + std::to_string(i), kLastOfTheFirstGroup / kKeys * i, &inserted);
  }
  std::vector<const KeyEntry*> visited;
  KeyTable::Cursor cursor;
  size_t until = 100;
  auto visit = [&](KeyEntry* entry) {
    if (visited.size() == until) return false;
    visited.push_back(entry);
    return true;
  };
  EXPECT_FALSE(table.WalkEvenly(&cursor, visit));
  constexpr size_t kParts = 20;
  std::vector<int> of_part(kParts);
  for (const KeyEntry* entry : visited) ++of_part[entry->hash / (kLastOfTheFirstGroup / kParts + 1)];
  for (const int entries : of_part) EXPECT_NEAR(entries, 5, 3);
  until = kKeys + 1;
  EXPECT_TRUE(table.WalkEvenly(&cursor, visit));
  EXPECT_EQ(visited.size(), static_cast<size_t>(kKeys));
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(std::unique(visited.begin(), visited.end()), visited.end()) << "each once";
}

}  // namespace
}  // namespace caudal
