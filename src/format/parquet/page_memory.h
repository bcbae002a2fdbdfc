// PageMemory: the memory of Arrow's buffers while Parquet is written: pages that fill, pages that are
// compressed, column chunks that wait for the end of their row group.
//
// Such buffers double as they grow, are cut to size and soon given back, so that an allocator for everything
// splits and joins its blocks, and asks the kernel for cleared pages, a hundred times a second. Here large
// blocks have sizes that are powers of two, grow and shrink in place within them, and are kept for the next
// buffer, up to a bound. Any thread; one for the whole program.
#pragma once

#include <cstdint>
#include <memory>

namespace arrow {
class MemoryPool;
}

namespace caudal {

class PageMemory {
 public:
  static arrow::MemoryPool* OfProgram();
  PageMemory();
  ~PageMemory();  // after the last buffer of its pool
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;

  arrow::MemoryPool* pool();
  int64_t kept_bytes() const;  // of blocks that nobody uses

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace caudal
