#include "data/sketch/hyper_log_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

void AppendLittleEndian(uint32_t value, std::string* out) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out->append(bytes, 4);
}

// What a list of entries starts with: as many as the smallest block of an allocator holds anyway.
constexpr size_t kFirstEntries = 6;

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

void HyperLogLog::AddEntry(uint32_t entry) {
  const uint32_t prefix = entry >> kRankBits;
  const size_t at = LowerBound(sparse_.data(), sparse_.size(), prefix << kRankBits);
  if (at < sparse_.size() && sparse_[at] >> kRankBits == prefix) {
    sparse_[at] = std::max(sparse_[at], entry);
    return;
  }
  if (sparse_.capacity() == 0) sparse_.reserve(kFirstEntries);
  sparse_.insert(sparse_.begin() + static_cast<std::ptrdiff_t>(at), entry);
  if (sparse_.size() > kSparseLimit) MakeDense();
}

void HyperLogLog::Zip(const std::vector<uint32_t>& other) {
  if (sparse_.empty()) {
    sparse_ = other;
    return;
  }
  // From the back, in place, and only as far as `other` reaches.
  size_t left = sparse_.size();
  sparse_.resize(left + other.size());
  uint32_t* entries = sparse_.data();
  size_t end = sparse_.size();
  for (size_t i = other.size(); i-- > 0;) {
    const uint32_t entry = other[i];
    const uint32_t prefix = entry >> kRankBits;
    while (left > 0 && entries[left - 1] >> kRankBits > prefix) entries[--end] = entries[--left];
    const bool here = left > 0 && entries[left - 1] >> kRankBits == prefix;
    entries[--end] = here ? std::max(entries[--left], entry) : entry;
  }
  // Entries that both had have left a gap.
  sparse_.erase(sparse_.begin() + static_cast<std::ptrdiff_t>(left),
                sparse_.begin() + static_cast<std::ptrdiff_t>(end));
  if (sparse_.size() > kSparseLimit) MakeDense();
}

void HyperLogLog::MakeDense() {
  if (dense_ == nullptr) {
    dense_ = std::make_unique<uint8_t[]>(kRegisters);
  } else {
    std::memset(dense_.get(), 0, kRegisters);
  }
  RaiseAll(sparse_);
  is_dense_ = true;
  std::vector<uint32_t>().swap(sparse_);
}

void HyperLogLog::RaiseAll(const std::vector<uint32_t>& entries) {
  for (const uint32_t entry : entries) Raise(RegisterOf(entry), RankOf(entry));
}

void HyperLogLog::Merge(const HyperLogLog& other) {
  if (other.is_dense_ && is_dense_) {
    RaiseRanks(dense_.get(), other.dense_.get(), kRegisters);
  } else if (other.is_dense_) {
    const std::vector<uint32_t> own = std::move(sparse_);
    Assign(other);
    RaiseAll(own);
  } else if (is_dense_) {
    RaiseAll(other.sparse_);
  } else {
    Zip(other.sparse_);
  }
}

void HyperLogLog::Assign(const HyperLogLog& other) {
  sparse_ = other.sparse_;
  is_dense_ = other.is_dense_;
  if (!is_dense_) return;
  if (dense_ == nullptr) dense_.reset(new uint8_t[kRegisters]);
  std::memcpy(dense_.get(), other.dense_.get(), kRegisters);
}

int64_t HyperLogLog::Estimate() const {
  if (!is_dense_) return static_cast<int64_t>(sparse_.size());
  constexpr double kCount = static_cast<double>(kRegisters);
  const RankSum sum = SumRanks(dense_.get(), kRegisters);
  // Both ways of adding up are exact, hence equal to the last bit.
  double z = sum.exact ? static_cast<double>(sum.units) / static_cast<double>(uint64_t{1} << RankSum::kUnit)
                       : SumOfHistogram(dense_.get());
  z += kCount * Sigma(sum.zeros / kCount);
  constexpr double kAlpha = 0.7213475204444817;  // 1 / (2 ln 2)
  return std::llround(kAlpha * kCount * kCount / z);
}

void HyperLogLog::Serialize(std::string* out) const {
  if (is_dense_) {
    *out += kDenseForm;
    out->append(reinterpret_cast<const char*>(dense_.get()), kRegisters);
    return;
  }
  *out += kSparseForm;
  AppendLittleEndian(static_cast<uint32_t>(sparse_.size()), out);
  for (const uint32_t entry : sparse_) AppendLittleEndian(entry, out);
}

bool HyperLogLog::Deserialize(std::string_view* in) {
  sparse_.clear();
  is_dense_ = false;
  if (in->empty()) return false;
  const char form = in->front();
  in->remove_prefix(1);
  if (form == kDenseForm) {
    if (in->size() < kRegisters) return false;
    if (dense_ == nullptr) dense_.reset(new uint8_t[kRegisters]);
    is_dense_ = true;
    std::memcpy(dense_.get(), in->data(), kRegisters);
    in->remove_prefix(kRegisters);
    return std::all_of(dense_.get(), dense_.get() + kRegisters,
                       [](uint8_t rank) { return rank <= kMaxRank; });
  }
  uint32_t count = 0;
  if (form != kSparseForm || in->size() < 4) return false;
  std::memcpy(&count, in->data(), 4);
  in->remove_prefix(4);
  if (count > kSparseLimit || in->size() < count * sizeof(uint32_t)) return false;
  sparse_.resize(count);
  if (count > 0) std::memcpy(sparse_.data(), in->data(), count * sizeof(uint32_t));
  in->remove_prefix(count * sizeof(uint32_t));
  const auto ascending = [](uint32_t a, uint32_t b) { return a >> kRankBits >= b >> kRankBits; };
  return std::adjacent_find(sparse_.begin(), sparse_.end(), ascending) == sparse_.end();
}

}  // namespace caudal
