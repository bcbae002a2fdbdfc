#include "format/parquet/page_memory.h"

#include <arrow/memory_pool.h>
#include <gtest/gtest.h>

#include <cstring>

namespace caudal {
namespace {

TEST(PageMemoryTest, ABufferKeepsItsBytesAsItGrowsAndShrinks) {
  PageMemory memory;
  arrow::MemoryPool& pool = *memory.pool();
  uint8_t* data = nullptr;
  ASSERT_TRUE(pool.Allocate(100, &data).ok());
  std::memset(data, 7, 100);
  int64_t size = 100;
  for (const int64_t next : {40'000, 60'000, 9'000'000, 20'000'000, 70'000, 50, 0, 100'000}) {
    ASSERT_TRUE(pool.Reallocate(size, next, &data).ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    if (next > 50 && size > 50) {
      EXPECT_EQ(data[0], 7);
      EXPECT_EQ(data[99], 7);
    }
    std::memset(data, 7, static_cast<size_t>(next));
    size = next;
    EXPECT_EQ(pool.bytes_allocated(), size);
  }
  pool.Free(data, size);
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

TEST(PageMemoryTest, ALargeBlockServesTheNextBuffer) {
  PageMemory memory;
  arrow::MemoryPool& pool = *memory.pool();
  uint8_t *first = nullptr, *second = nullptr;
  ASSERT_TRUE(pool.Allocate(600'000, &first).ok());
  pool.Free(first, 600'000);
  EXPECT_EQ(memory.kept_bytes(), 1 << 20);
  ASSERT_TRUE(pool.Allocate(900'000, &second).ok());
  EXPECT_EQ(second, first);
  EXPECT_EQ(memory.kept_bytes(), 0);
  pool.Free(second, 900'000);
  pool.ReleaseUnused();
  EXPECT_EQ(memory.kept_bytes(), 0);
}

TEST(PageMemoryTest, WhatIsKeptIsBounded) {
  PageMemory memory;
  arrow::MemoryPool& pool = *memory.pool();
  constexpr int64_t kSize = 4 << 20;
  uint8_t* blocks[20];
  for (uint8_t*& block : blocks) ASSERT_TRUE(pool.Allocate(kSize, &block).ok());
  EXPECT_EQ(pool.bytes_allocated(), 20 * kSize);
  for (uint8_t* block : blocks) pool.Free(block, kSize);
  EXPECT_EQ(memory.kept_bytes(), 4 * kSize);
}

}  // namespace
}  // namespace caudal
