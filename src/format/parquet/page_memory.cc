#include "format/parquet/page_memory.h"

#include <arrow/memory_pool.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/check.h"

namespace caudal {
namespace {

constexpr int kFirstPower = 15, kLastPower = 23;  // of what is kept: 32 KB to 8 MB
constexpr int64_t kMostKept = int64_t{16} << 20;
// A block that is used to less than that part of it goes back: what waits long was cut to size.
constexpr int64_t kLeastUse = 4;

// Stands before the bytes of each block.
struct alignas(64) Header {
  int64_t capacity;
};

Header* HeaderOf(uint8_t* data) { return reinterpret_cast<Header*>(data) - 1; }

int PowerOf(int64_t capacity) { return std::bit_width(static_cast<uint64_t>(capacity)) - 1; }

}  // namespace

class PageMemory::Pool : public arrow::MemoryPool {
 public:
  ~Pool() override { ReleaseUnused(); }

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** data) override;
  void Free(uint8_t* data, int64_t size, int64_t alignment) override;
  void ReleaseUnused() override;

  int64_t bytes_allocated() const override { return bytes_; }
  int64_t total_bytes_allocated() const override { return total_bytes_; }
  int64_t num_allocations() const override { return allocations_; }
  std::string backend_name() const override { return "caudal"; }
  int64_t kept_bytes() const;

 private:
  std::atomic<int64_t> bytes_{0}, total_bytes_{0}, allocations_{0};
  mutable std::mutex mutex_;
  std::vector<void*> kept_[kLastPower - kFirstPower + 1];
  int64_t kept_bytes_ = 0;
};

PageMemory::PageMemory() : pool_(std::make_unique<Pool>()) {}
PageMemory::~PageMemory() = default;

arrow::MemoryPool* PageMemory::OfProgram() {
  static PageMemory* memory = new PageMemory();  // buffers may outlive what is destroyed at the end
  return memory->pool();
}

arrow::MemoryPool* PageMemory::pool() { return pool_.get(); }

int64_t PageMemory::kept_bytes() const { return pool_->kept_bytes(); }

arrow::Status PageMemory::Pool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  CHECK(alignment <= static_cast<int64_t>(alignof(Header)));
  const bool classed = size > (int64_t{1} << (kFirstPower - 1)) && size <= (int64_t{1} << kLastPower);
  const int64_t capacity = classed ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size))) : size;
  void* block = nullptr;
  if (classed) {
    std::lock_guard lock(mutex_);
    std::vector<void*>& kept = kept_[PowerOf(capacity) - kFirstPower];
    if (!kept.empty()) {
      block = kept.back();
      kept.pop_back();
      kept_bytes_ -= capacity;
    }
  }
  if (block == nullptr) {
    constexpr size_t kLine = alignof(Header);
    const size_t bytes = (static_cast<size_t>(capacity) + kLine - 1) / kLine * kLine;
    block = std::aligned_alloc(kLine, sizeof(Header) + bytes);
    if (block == nullptr) return arrow::Status::OutOfMemory("a buffer of ", size, " bytes");
  }
  static_cast<Header*>(block)->capacity = capacity;
  *out = reinterpret_cast<uint8_t*>(static_cast<Header*>(block) + 1);
  bytes_ += size;
  total_bytes_ += size;
  ++allocations_;
  return arrow::Status::OK();
}

arrow::Status PageMemory::Pool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                           uint8_t** data) {
  const int64_t capacity = HeaderOf(*data)->capacity;
  if (new_size <= capacity && new_size >= capacity / kLeastUse) {
    bytes_ += new_size - old_size;
    total_bytes_ += std::max<int64_t>(0, new_size - old_size);
    return arrow::Status::OK();
  }
  uint8_t* moved = nullptr;
  ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
  std::memcpy(moved, *data, static_cast<size_t>(std::min(old_size, new_size)));
  Free(*data, old_size, alignment);
  *data = moved;
  return arrow::Status::OK();
}

void PageMemory::Pool::Free(uint8_t* data, int64_t size, int64_t) {
  Header* block = HeaderOf(data);
  bytes_ -= size;
  const int power = PowerOf(std::max<int64_t>(1, block->capacity));
  if (std::has_single_bit(static_cast<uint64_t>(block->capacity)) && power >= kFirstPower &&
      power <= kLastPower) {
    std::lock_guard lock(mutex_);
    if (kept_bytes_ + block->capacity <= kMostKept) {
      kept_bytes_ += block->capacity;
      kept_[power - kFirstPower].push_back(block);
      return;
    }
  }
  std::free(block);
}

void PageMemory::Pool::ReleaseUnused() {
  std::lock_guard lock(mutex_);
  for (std::vector<void*>& kept : kept_) {
    for (void* block : kept) std::free(block);
    kept.clear();
  }
  kept_bytes_ = 0;
}

int64_t PageMemory::Pool::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_bytes_;
}

}  // namespace caudal
