// KeySegment: a fixed-size set of keys, each with a time: what KeyGenerations is made of.
//
// A bucket is one cache line of three keys; a full bucket runs over into the next. Never rehashed, nothing
// removed; memory is lazily faulted in, in huge pages where the kernel has them. A UUID key sits in the line
// itself, any other key's bytes in an arena. A filter of ten bits a key, small enough for the nearer caches,
// answers for most keys that are not here. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace caudal {

class KeySegment {
 public:
  // `keys`: how many it shall hold. Times are kept as offsets from `base`.
  KeySegment(int64_t keys, int64_t base);
  ~KeySegment();
  KeySegment(const KeySegment&) = delete;
  KeySegment& operator=(const KeySegment&) = delete;

  bool full() const { return size_ >= limit_; }
  int64_t size() const { return size_; }
  int64_t bytes() const { return bytes_; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&buckets_[Home(hash)], 1); }
  // Four bits of one word of the filter, from bits of the hash that Home does not use: the same word in every
  // segment, so that who asks many of them makes it once.
  static uint64_t FilterBits(uint64_t hash) {
    return uint64_t{1} << (hash >> 32 & 63) | uint64_t{1} << (hash >> 38 & 63) |
           uint64_t{1} << (hash >> 44 & 63) | uint64_t{1} << (hash >> 50 & 63);
  }
  // False: the key is not here. True: it probably is. `bits`: FilterBits of the hash.
  bool MayContain(uint64_t hash, uint64_t bits) const { return (filter_[FilterHome(hash)] & bits) == bits; }
  // The latest time under which the key stands here, if it does.
  bool Find(std::string_view key, uint64_t hash, int64_t* time) const;
  // REQUIRES: !full(), 0 <= time - base < 2^32.
  void Insert(std::string_view key, uint64_t hash, int64_t time);

  // Full buckets that Insert has passed over: few, unless keys come in the order of their hashes.
  int64_t passed_buckets() const { return passed_buckets_; }

  // Calls visit(key, time) for each entry of some buckets from `*at` (0: the first) on and moves it behind
  // them; false: there was none left. The key's bytes live for that call only. Whichever part of the entries
  // is visited, it is of all hashes alike: in the order of the buckets, which is that of the hashes, those
  // that a smaller segment has room for would all belong to its first buckets.
  template <typename Visit>
  bool VisitSome(size_t* at, Visit visit) const {
    constexpr size_t kSome = 256;
    if (*at == bucket_count_) return false;
    constexpr size_t kAhead = 8;
    char uuid[kUuidKey] = {2};
    const size_t end = *at + std::min(kSome, bucket_count_ - *at);
    size_t place = *at * stride_ % bucket_count_;
    size_t ahead = (*at + kAhead) * stride_ % bucket_count_;
    for (; *at < end; ++*at, place = Next(place), ahead = Next(ahead)) {
      __builtin_prefetch(&buckets_[ahead]);
      const Bucket& bucket = buckets_[place];
      for (int i = 0; i < kSlots; ++i) {
        if ((bucket.used >> i & 1) == 0) continue;
        std::string_view key;
        if (bucket.used >> (i + kArenaBit) & 1) {
          key = ArenaKey(bucket.keys[i]);
        } else {
          std::memcpy(uuid + 1, &bucket.keys[i], sizeof(Key));
          key = {uuid, kUuidKey};
        }
        visit(key, base_ + bucket.offsets[i]);
      }
    }
    return true;
  }

 private:
  static constexpr int kSlots = 3;
  static constexpr int kArenaBit = 4;     // bit i + 4 of Bucket::used: key i is in the arena
  static constexpr size_t kUuidKey = 17;  // a RowKey that is one UUID column: its tag and 16 bytes
  static constexpr char kUuidTag = 2;

  // 16 bytes of a UUID, or the hash and a pointer to length (4 bytes) and bytes.
  struct Key {
    uint64_t first;
    uint64_t second;
  };
  struct alignas(64) Bucket {
    uint8_t used;  // bits 0–2: slot taken; bits 4–6: its key is in the arena
    uint8_t fingerprints[kSlots];
    uint32_t offsets[kSlots];
    Key keys[kSlots];
  };
  static_assert(sizeof(Bucket) == 64);

  // The hash's top bits name the key group, so the bucket comes from the bits below.
  size_t Home(uint64_t hash) const {
    return static_cast<size_t>((hash & 0xffffffffu) * static_cast<uint64_t>(bucket_count_) >> 32);
  }
  size_t FilterHome(uint64_t hash) const {
    return static_cast<size_t>((hash & 0xffffffffu) * static_cast<uint64_t>(filter_words_) >> 32);
  }
  size_t Next(size_t place) const {
    place += stride_;
    return place < bucket_count_ ? place : place - bucket_count_;
  }
  static uint8_t Fingerprint(uint64_t hash) { return static_cast<uint8_t>(hash >> 32); }
  static bool IsUuid(std::string_view key) { return key.size() == kUuidKey && key[0] == kUuidTag; }
  static std::string_view ArenaKey(const Key& key) {
    const char* at = reinterpret_cast<const char*>(key.second);
    uint32_t size;
    std::memcpy(&size, at, sizeof(size));
    return {at + sizeof(size), size};
  }
  char* Allocate(size_t size);

  int64_t base_;
  int64_t limit_;
  int64_t size_ = 0;
  int64_t bytes_ = 0;
  int64_t passed_buckets_ = 0;
  size_t bucket_count_;
  size_t stride_;  // of VisitSome
  Bucket* buckets_;
  size_t filter_words_;
  uint64_t* filter_;
  std::vector<std::unique_ptr<char[]>> arena_;
  size_t arena_left_ = 0;
};

}  // namespace caudal
