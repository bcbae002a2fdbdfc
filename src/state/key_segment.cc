#include "state/key_segment.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "state/even_stride.h"

namespace caudal {
namespace {

constexpr double kFill = 0.95;
constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmall = size_t{64} << 10;  // below it pages of one's own cost more than clearing
constexpr size_t kArenaPage = size_t{64} << 10;
constexpr size_t kFilterBitsAKey = 10;

// Zeroed memory, in pages of its own unless it is small. A page that is looked into before it is first
// written costs two faults, the second of which interrupts every core that runs a thread of ours: small
// mappings are therefore filled at once (half a millisecond for the largest); larger ones get huge pages and
// spread the cost over the inserts.
void* AllocateZeroed(size_t size) {
  if (size < kSmall) {
    void* block = std::aligned_alloc(kLine, (size + kLine - 1) / kLine * kLine);
    CHECK(block != nullptr);
    return std::memset(block, 0, size);
  }
  const int populate = size < kHugePage ? MAP_POPULATE : MAP_NORESERVE;
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  CHECK(pages != MAP_FAILED);
  // Only a wish: without huge pages it is slower, not wrong.
  if (size >= kHugePage) (void)madvise(pages, size, MADV_HUGEPAGE);
  return pages;
}

void Release(void* block, size_t size) {
  if (size < kSmall) {
    std::free(block);
  } else {
    munmap(block, size);
  }
}

}  // namespace

KeySegment::KeySegment(int64_t keys, int64_t base) : base_(base), limit_(keys) {
  bucket_count_ = static_cast<size_t>(static_cast<double>(keys) / (kSlots * kFill)) + 1;
  stride_ = EvenStride(bucket_count_);
  filter_words_ = static_cast<size_t>(keys) * kFilterBitsAKey / 64 + 1;
  buckets_ = static_cast<Bucket*>(AllocateZeroed(bucket_count_ * sizeof(Bucket)));
  filter_ = static_cast<uint64_t*>(AllocateZeroed(filter_words_ * sizeof(uint64_t)));
  bytes_ = static_cast<int64_t>(bucket_count_ * sizeof(Bucket) + filter_words_ * sizeof(uint64_t));
}

KeySegment::~KeySegment() {
  Release(buckets_, bucket_count_ * sizeof(Bucket));
  Release(filter_, filter_words_ * sizeof(uint64_t));
}

char* KeySegment::Allocate(size_t size) {
  if (size > arena_left_) {
    const size_t page = std::max(size, kArenaPage);
    arena_.push_back(std::make_unique_for_overwrite<char[]>(page));
    arena_left_ = page;
    bytes_ += static_cast<int64_t>(page);
  }
  // Pages fill from their end, so that one number says both how much is left and where.
  arena_left_ -= size;
  return arena_.back().get() + arena_left_;
}

bool KeySegment::Find(std::string_view key, uint64_t hash, int64_t* time) const {
  const bool uuid = IsUuid(key);
  Key wanted{hash, 0};
  if (uuid) std::memcpy(&wanted, key.data() + 1, sizeof(wanted));
  bool found = false;
  for (size_t b = Home(hash);; b = b + 1 == bucket_count_ ? 0 : b + 1) {
    const Bucket& bucket = buckets_[b];
    for (int i = 0; i < kSlots; ++i) {
      if ((bucket.used >> i & 1) == 0) return found;  // slots fill in order: nothing runs over from here
      if (bucket.fingerprints[i] != Fingerprint(hash) || bucket.keys[i].first != wanted.first) continue;
      const bool in_arena = (bucket.used >> (i + kArenaBit) & 1) != 0;
      if (in_arena == uuid) continue;
      if (uuid ? bucket.keys[i].second != wanted.second : ArenaKey(bucket.keys[i]) != key) continue;
      const int64_t at = base_ + bucket.offsets[i];
      *time = found ? std::max(*time, at) : at;
      found = true;
    }
  }
}

void KeySegment::Insert(std::string_view key, uint64_t hash, int64_t time) {
  Key stored{hash, 0};
  const bool uuid = IsUuid(key);
  if (uuid) {
    std::memcpy(&stored, key.data() + 1, sizeof(stored));
  } else {
    const uint32_t size = static_cast<uint32_t>(key.size());
    char* at = Allocate(sizeof(size) + size);
    std::memcpy(at, &size, sizeof(size));
    std::memcpy(at + sizeof(size), key.data(), size);
    stored.second = reinterpret_cast<uint64_t>(at);
  }
  size_t b = Home(hash);
  for (; (buckets_[b].used & 7) == 7; ++passed_buckets_) b = b + 1 == bucket_count_ ? 0 : b + 1;
  Bucket& bucket = buckets_[b];
  const int slot = __builtin_ctz(~static_cast<unsigned>(bucket.used));
  bucket.used = static_cast<uint8_t>(bucket.used | 1 << slot | (uuid ? 0 : 1 << (slot + kArenaBit)));
  bucket.fingerprints[slot] = Fingerprint(hash);
  bucket.offsets[slot] = static_cast<uint32_t>(time - base_);
  bucket.keys[slot] = stored;
  filter_[FilterHome(hash)] |= FilterBits(hash);
  ++size_;
}

}  // namespace caudal
