#include "data/chunk.h"

#include <gtest/gtest.h>

#include "data/column_builder.h"

namespace caudal {
namespace {

TEST(Chunk, KnowsWhereItsRowsWereReadUntilTheyAreMadeAnew) {
  const ColumnPtr column = ConstantColumn(Type(TypeId::kInt), Value(int64_t{1}), 3);
  const Chunk read =
      Chunk({column}, 3)
          .WithOrigin(ChunkOriginPtr(new ChunkOrigin{"filesystem t[1]", "in/a.json", {0, 20, 45}}));
  EXPECT_EQ(read.origin()->Place(1), "filesystem t[1]@20, file 'in/a.json'");
  const Chunk picked = read.WithSelection(SelectionPtr(new Selection{{2, 0}})).WithColumns({column, column});
  EXPECT_EQ(picked.origin()->Place(picked.rows()[0]), "filesystem t[1]@45, file 'in/a.json'");
  const Chunk compact = picked.Compact();
  EXPECT_EQ(compact.origin()->Place(0), "filesystem t[1]@45, file 'in/a.json'");
  EXPECT_EQ(compact.origin()->Place(1), "filesystem t[1]@0, file 'in/a.json'");
  EXPECT_EQ(Chunk({column}, 3).origin(), nullptr);
  EXPECT_EQ(ChunkOrigin({"feed t[0]", "", {}}).Place(2), "feed t[0]");
}

}  // namespace
}  // namespace caudal
