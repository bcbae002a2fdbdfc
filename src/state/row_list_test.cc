#include "state/row_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace caudal {
namespace {

using Model = std::vector<std::pair<std::string, std::string>>;  // order, row

Model ContentsOf(const RowList& list) {
  Model contents;
  for (int64_t i = 0; i < list.size(); ++i) contents.emplace_back(list.order(i), list.row(i));
  return contents;
}

int64_t BytesOf(const Model& model) {
  int64_t bytes = 0;
  for (const auto& [order, row] : model) bytes += static_cast<int64_t>(order.size() + row.size()) + 16;
  return bytes;
}

// Grows to some thousands and shrinks to nothing again, in any place, as a sorted vector does.
TEST(RowList, RandomRunsAgreeWithAVector) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t orders = seed % 2 == 0 ? 20 : 100'000;  // few: many equal ones
    RowList list;
    Model model;
    for (int step = 0; step < 16'000; ++step) {
      const bool grows = step < 8'000 ? random() % 10 < 8 : random() % 10 < 2;
      if (grows || model.empty()) {
        const std::string order = fmt::format("{:06}", random() % orders);
        const std::string row = std::to_string(step);
        const bool behind = random() % 2 == 0;
        const int64_t at = behind ? list.UpperBound(order) : list.LowerBound(order);
        const auto before = [&](const auto& item) {
          return behind ? item.first <= order : item.first < order;
        };
        ASSERT_EQ(at, std::partition_point(model.begin(), model.end(), before) - model.begin());
        list.Insert(at, order, row);
        model.insert(model.begin() + at, {order, row});
      } else {
        const auto gone = model.begin() + static_cast<ptrdiff_t>(random() % model.size());
        const int64_t at = list.Find(gone->first, gone->second);
        ASSERT_EQ(at, gone - model.begin());
        list.Remove(at);
        model.erase(gone);
      }
      ASSERT_EQ(list.size(), static_cast<int64_t>(model.size()));
      if (!model.empty()) {
        const size_t at = random() % model.size();
        ASSERT_EQ(list.row(static_cast<int64_t>(at)), model[at].second);
      }
      if (step % 1'000 == 0) {
        ASSERT_EQ(ContentsOf(list), model);
      }
    }
    EXPECT_EQ(ContentsOf(list), model);
    EXPECT_EQ(list.bytes(), BytesOf(model));
    EXPECT_EQ(list.Find("none", ""), -1);
  }
}

TEST(RowList, ALongListIsSavedSortedAndCutAsAShortOne) {
  const RowListCodec codec("");
  char row[sizeof(RowList*)], read[sizeof(RowList*)];
  codec.Init(row);
  codec.Init(read);
  RowList& list = RowList::At(row);
  for (int i = 0; i < 3'000; ++i) list.Insert(0, fmt::format("{:04}", i), "r");
  std::string saved;
  codec.Encode(row, &saved);
  std::string_view in = saved;
  ASSERT_TRUE(codec.Decode(&in, read).ok());
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(ContentsOf(RowList::At(read)), ContentsOf(list));
  EXPECT_EQ(list.order(0), "2999");
  list.Sort();
  EXPECT_EQ(list.order(0), "0000");
  EXPECT_EQ(list.order(2'999), "2999");
  for (int i = 0; i < 10; ++i) list.Remove(1);
  list.Truncate(5);
  EXPECT_EQ(ContentsOf(list),
            (Model{{"0000", "r"}, {"0011", "r"}, {"0012", "r"}, {"0013", "r"}, {"0014", "r"}}));
  codec.Destroy(row);
  codec.Destroy(read);
}

}  // namespace
}  // namespace caudal
