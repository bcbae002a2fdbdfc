#include "run/router.h"

#include <gtest/gtest.h>

#include "data/column_builder.h"
#include "run/schedule/seeded_executor.h"

namespace caudal {
namespace {

class Sleeper : public Runnable {
 public:
  Outcome Run() override { return Outcome::kIdle; }
};

TEST(Router, EveryGroupHasOneTask) {
  for (int tasks = 1; tasks <= 7; ++tasks) {
    int next = 0;
    for (int task = 0; task < tasks; ++task) {
      EXPECT_EQ(GroupsOfTask(task, tasks).first, next);
      next = GroupsOfTask(task, tasks).last + 1;
    }
    EXPECT_EQ(next, kKeyGroups);
  }
}

TEST(Router, EachRowGoesToTheTaskOfItsGroup) {
  ManualEnv env;
  SeededExecutor executor(&env, 1);
  Sleeper writer, reader;
  Lane first(&executor, 1 << 20, nullptr), second(&executor, 1 << 20, nullptr);
  first.Connect(&writer, &reader);
  second.Connect(&writer, &reader);
  Router router({0}, {&first, &second});
  ColumnBuilder builder(Type(TypeId::kBigInt));
  for (int64_t i = 0; i < 1000; ++i) builder.Append(i);
  const Chunk chunk({builder.Finish()}, 1000);
  router.Send(chunk);
  RowKeys keys;
  int32_t rows = 0;
  for (int task = 0; task < 2; ++task) {
    Message message;
    ASSERT_TRUE((task == 0 ? first : second).Pop(&message));
    const Chunk& part = std::get<Chunk>(message);
    rows += part.size();
    keys.Encode(part, {0}, part.rows());
    for (int32_t i = 0; i < part.size(); ++i) EXPECT_TRUE(GroupsOfTask(task, 2).Contains(keys.key_group(i)));
  }
  EXPECT_EQ(rows, 1000);
}

TEST(Router, FewRowsDoNotPinManyRowsColumns) {
  ManualEnv env;
  SeededExecutor executor(&env, 1);
  Sleeper writer, reader;
  Lane first(&executor, 1 << 20, nullptr), second(&executor, 1 << 20, nullptr);
  first.Connect(&writer, &reader);
  second.Connect(&writer, &reader);
  Router router({0}, {&first, &second});
  ColumnBuilder builder(Type(TypeId::kBigInt));
  for (int64_t i = 0; i < 1000; ++i) builder.Append(i);
  auto selection = std::make_unique<Selection>();
  selection->rows = {1, 2, 3, 4, 5, 6, 7, 8};
  router.Send(Chunk({builder.Finish()}, 1000, SelectionPtr(std::move(selection))));
  Message message;
  ASSERT_TRUE(first.Pop(&message) || second.Pop(&message));
  EXPECT_LE(std::get<Chunk>(message).physical_rows(), 8);
}

}  // namespace
}  // namespace caudal
