#include "data/sketch/hyper_log_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "data/sketch/ranks.h"

namespace caudal {
namespace {

constexpr int kSparsePrecision = 25;
constexpr int kMiddleBits = kSparsePrecision - HyperLogLog::kPrecision;
constexpr int kRankBits = 6;
constexpr int kMaxRank = 64 - HyperLogLog::kPrecision + 1;
constexpr uint64_t kSeed = 0x6361756461'6c0001;  // "caudal", version 1

// A sparse entry holds the first 25 bits of the hash; only when the 13 beyond the register's number are all
// zero does the rank need more of the hash, and then it stands behind them.
uint32_t EntryOf(uint64_t hash) {
  const uint32_t prefix = static_cast<uint32_t>(hash >> (64 - kSparsePrecision));
  uint32_t rank = 0;
  if ((prefix & ((1u << kMiddleBits) - 1)) == 0) {
    const uint64_t rest = hash << kSparsePrecision;
    rank =
        static_cast<uint32_t>(kMiddleBits + (rest == 0 ? 64 - kSparsePrecision : std::countl_zero(rest)) + 1);
  }
  return prefix << kRankBits | rank;
}

size_t RegisterOf(uint32_t entry) { return entry >> (kRankBits + kMiddleBits); }

uint8_t RankOf(uint32_t entry) {
  const uint32_t rank = entry & ((1u << kRankBits) - 1);
  if (rank != 0) return static_cast<uint8_t>(rank);
  const uint32_t middle = entry >> kRankBits & ((1u << kMiddleBits) - 1);
  return static_cast<uint8_t>(std::countl_zero(middle) - (32 - kMiddleBits) + 1);
}

// Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6.
double Sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1;
  double z = x;
  double before = -1;
  while (z != before) {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  }
  return z;
}

double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1;
  double z = 1 - x;
  double before = -1;
  while (z != before) {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  }
  return z / 3;
}

constexpr size_t kFirstBlock = 64;
// What two sparse sketches may have together before it is known how many of them are the same.
constexpr size_t kMostEntries = 2 * HyperLogLog::kSparseLimit;

// The sum of 2^-rank over all ranks but 0, a rank at a time: what Ertl writes, for the rare rank that is too
// high for RankSum.
double SumOfHistogram(const uint8_t* ranks) {
  constexpr double kCount = static_cast<double>(HyperLogLog::kRegisters);
  int histogram[kMaxRank + 1] = {};
  for (size_t i = 0; i < HyperLogLog::kRegisters; ++i) ++histogram[ranks[i]];
  double z = kCount * Tau(1 - histogram[kMaxRank] / kCount);
  for (int rank = kMaxRank - 1; rank >= 1; --rank) z = 0.5 * (z + histogram[rank]);
  return z;
}

// The first of ascending entries that is not below `bound`, without branches to mispredict.
size_t LowerBound(const uint32_t* entries, size_t count, uint32_t bound) {
  const uint32_t* from = entries;
  while (count > 1) {
    const size_t half = count / 2;
    from += from[half - 1] < bound ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(from - entries) + (count == 1 && *from < bound ? 1 : 0);
}

constexpr char kSparseForm = 1;
constexpr char kDenseForm = 2;

}  // namespace

uint64_t HyperLogLog::Hash(const void* bytes, size_t size) {
  return XXH3_64bits_withSeed(bytes, size, kSeed);
}

void HyperLogLog::Add(uint64_t hash) {
  if (!is_dense_) return AddEntry(EntryOf(hash));
  const uint64_t rest = hash << kPrecision;
  const int rank = (rest == 0 ? 64 - kPrecision : std::countl_zero(rest)) + 1;
  Raise(hash >> (64 - kPrecision), static_cast<uint8_t>(rank));
}

void HyperLogLog::Reserve(size_t bytes) {
  if (bytes <= this->bytes()) return;
  const size_t capacity = std::max(std::bit_ceil(bytes), kFirstBlock);
  if (has_block()) std::free(block());
  const char* fresh = static_cast<char*>(std::malloc(capacity));
  CHECK(fresh != nullptr);
  std::memcpy(&few_[kFew - 2], &fresh, sizeof(fresh));
  block_bits_ = static_cast<uint8_t>(std::countr_zero(capacity));
}

uint32_t* HyperLogLog::MakeRoom(size_t count) {
  if (!has_block() && count <= kFew) return few_;
  if (count * sizeof(uint32_t) > bytes()) {
    uint32_t kept[kMostEntries];
    std::copy_n(entries().data(), size_, kept);
    Reserve(count * sizeof(uint32_t));
    std::copy_n(kept, size_, block_entries());
  }
  return block_entries();
}

void HyperLogLog::SetEntries(Entries from) {
  is_dense_ = false;
  if (from.size() > kFew) Reserve(from.size_bytes());
  std::copy_n(from.data(), from.size(), has_block() ? block_entries() : few_);
  size_ = static_cast<uint16_t>(from.size());
}

void HyperLogLog::AddEntry(uint32_t entry) {
  const uint32_t prefix = entry >> kRankBits;
  const Entries before = entries();
  const size_t at = LowerBound(before.data(), before.size(), prefix << kRankBits);
  if (at < before.size() && before[at] >> kRankBits == prefix) {
    uint32_t& here = const_cast<uint32_t&>(before[at]);
    here = std::max(here, entry);
    return;
  }
  uint32_t* room = MakeRoom(size_ + 1u);
  std::copy_backward(room + at, room + size_, room + size_ + 1);
  room[at] = entry;
  if (++size_ <= kSparseLimit) return;
  uint32_t all[kSparseLimit + 1];
  std::copy_n(room, size_, all);
  MakeDense({all, size_});
}

void HyperLogLog::Zip(Entries other) {
  if (size_ == 0) return SetEntries(other);
  // From the back, in place, and only as far as `other` reaches.
  size_t left = size_;
  size_t end = left + other.size();
  const size_t most = end;
  uint32_t* all = MakeRoom(end);
  for (size_t i = other.size(); i-- > 0;) {
    const uint32_t entry = other[i];
    const uint32_t prefix = entry >> kRankBits;
    while (left > 0 && all[left - 1] >> kRankBits > prefix) all[--end] = all[--left];
    const bool here = left > 0 && all[left - 1] >> kRankBits == prefix;
    all[--end] = here ? std::max(all[--left], entry) : entry;
  }
  // Entries that both had have left a gap.
  std::copy(all + end, all + most, all + left);
  const size_t count = left + (most - end);
  if (count > kSparseLimit) {
    uint32_t merged[kMostEntries];
    std::copy_n(all, count, merged);
    return MakeDense({merged, count});
  }
  size_ = static_cast<uint16_t>(count);
}

void HyperLogLog::MakeDense(Entries from) {
  Reserve(kRegisters);
  std::memset(block(), 0, kRegisters);
  is_dense_ = true;
  size_ = 0;
  RaiseAll(from);
}

void HyperLogLog::RaiseAll(Entries from) {
  for (const uint32_t entry : from) Raise(RegisterOf(entry), RankOf(entry));
}

void HyperLogLog::Merge(const HyperLogLog& other) {
  if (other.is_dense_ && is_dense_) {
    RaiseRanks(ranks(), other.ranks(), kRegisters);
  } else if (other.is_dense_) {
    uint32_t own[kSparseLimit];
    const size_t count = size_;
    std::copy_n(entries().data(), count, own);
    Assign(other);
    RaiseAll({own, count});
  } else if (is_dense_) {
    RaiseAll(other.entries());
  } else {
    Zip(other.entries());
  }
}

void HyperLogLog::Assign(const HyperLogLog& other) {
  if (!other.is_dense_) return SetEntries(other.entries());
  Reserve(kRegisters);
  std::memcpy(block(), other.block(), kRegisters);
  is_dense_ = true;
  size_ = 0;
}

int64_t HyperLogLog::Estimate() const {
  if (!is_dense_) return size_;
  constexpr double kCount = static_cast<double>(kRegisters);
  const RankSum sum = SumRanks(ranks(), kRegisters);
  // Both ways of adding up are exact, hence equal to the last bit.
  double z = sum.exact ? static_cast<double>(sum.units) / static_cast<double>(uint64_t{1} << RankSum::kUnit)
                       : SumOfHistogram(ranks());
  z += kCount * Sigma(sum.zeros / kCount);
  constexpr double kAlpha = 0.7213475204444817;  // 1 / (2 ln 2)
  return std::llround(kAlpha * kCount * kCount / z);
}

void HyperLogLog::Serialize(std::string* out) const {
  if (is_dense_) {
    *out += kDenseForm;
    out->append(block(), kRegisters);
    return;
  }
  char head[1 + sizeof(uint32_t)] = {kSparseForm};
  const uint32_t count = size_;
  std::memcpy(head + 1, &count, sizeof(count));
  out->append(head, sizeof(head));
  out->append(reinterpret_cast<const char*>(entries().data()), entries().size_bytes());
}

bool HyperLogLog::Deserialize(std::string_view* in) {
  SetEntries({});
  if (in->empty()) return false;
  const char form = in->front();
  in->remove_prefix(1);
  if (form == kDenseForm) {
    if (in->size() < kRegisters) return false;
    Reserve(kRegisters);
    is_dense_ = true;
    std::memcpy(block(), in->data(), kRegisters);
    in->remove_prefix(kRegisters);
    return std::all_of(ranks(), ranks() + kRegisters, [](uint8_t rank) { return rank <= kMaxRank; });
  }
  uint32_t count = 0;
  if (form != kSparseForm || in->size() < 4) return false;
  std::memcpy(&count, in->data(), 4);
  in->remove_prefix(4);
  if (count > kSparseLimit || in->size() < count * sizeof(uint32_t)) return false;
  uint32_t read[kSparseLimit];
  std::memcpy(read, in->data(), count * sizeof(uint32_t));
  in->remove_prefix(count * sizeof(uint32_t));
  SetEntries({read, count});
  const auto ascending = [](uint32_t a, uint32_t b) { return a >> kRankBits >= b >> kRankBits; };
  return std::adjacent_find(read, read + count, ascending) == read + count;
}

}  // namespace caudal
