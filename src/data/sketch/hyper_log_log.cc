#include "data/sketch/hyper_log_log.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

// Entries from which on two lists are merged rather than inserted one into the other.
constexpr size_t kWorthZipping = 4;

constexpr char kSparseForm = 1;
constexpr char kDenseForm = 2;

}  // namespace

uint64_t HyperLogLog::Hash(const void* bytes, size_t size) {
  return XXH3_64bits_withSeed(bytes, size, kSeed);
}

void HyperLogLog::Add(uint64_t hash) {
  if (!dense_) return AddEntry(EntryOf(hash));
  const uint64_t rest = hash << kPrecision;
  const int rank = (rest == 0 ? 64 - kPrecision : std::countl_zero(rest)) + 1;
  Raise(hash >> (64 - kPrecision), static_cast<uint8_t>(rank));
}

void HyperLogLog::AddEntry(uint32_t entry) {
  const uint32_t prefix = entry >> kRankBits;
  const auto at = std::lower_bound(sparse_.begin(), sparse_.end(), prefix << kRankBits);
  if (at != sparse_.end() && *at >> kRankBits == prefix) {
    *at = std::max(*at, entry);
    return;
  }
  sparse_.insert(at, entry);
  if (sparse_.size() > kSparseLimit) MakeDense();
}

void HyperLogLog::Zip(const std::vector<uint32_t>& other) {
  if (sparse_.empty()) {
    sparse_ = other;
    return;
  }
  std::vector<uint32_t> both;
  both.reserve(sparse_.size() + other.size());
  auto a = sparse_.begin();
  auto b = other.begin();
  while (a != sparse_.end() && b != other.end()) {
    if (*a >> kRankBits == *b >> kRankBits) {
      both.push_back(std::max(*a++, *b++));
    } else {
      both.push_back(*a < *b ? *a++ : *b++);
    }
  }
  both.insert(both.end(), a, sparse_.end());
  both.insert(both.end(), b, other.end());
  sparse_ = std::move(both);
  if (sparse_.size() > kSparseLimit) MakeDense();
}

void HyperLogLog::MakeDense() {
  dense_ = std::make_unique<uint8_t[]>(kRegisters);
  for (const uint32_t entry : sparse_) Raise(RegisterOf(entry), RankOf(entry));
  std::vector<uint32_t>().swap(sparse_);
}

void HyperLogLog::Merge(const HyperLogLog& other) {
  if (other.dense_) {
    if (!dense_) MakeDense();
    uint8_t* to = dense_.get();
    const uint8_t* from = other.dense_.get();
    for (size_t i = 0; i < kRegisters; ++i) to[i] = std::max(to[i], from[i]);
    return;
  }
  if (!dense_ && other.sparse_.size() >= kWorthZipping) return Zip(other.sparse_);
  for (const uint32_t entry : other.sparse_) {
    if (dense_) {
      Raise(RegisterOf(entry), RankOf(entry));
    } else {
      AddEntry(entry);
    }
  }
}

int64_t HyperLogLog::Estimate() const {
  if (!dense_) return static_cast<int64_t>(sparse_.size());
  constexpr double kCount = static_cast<double>(kRegisters);
  int histogram[kMaxRank + 1] = {};
  for (size_t i = 0; i < kRegisters; ++i) ++histogram[dense_[i]];
  double z = kCount * Tau(1 - histogram[kMaxRank] / kCount);
  for (int rank = kMaxRank - 1; rank >= 1; --rank) z = 0.5 * (z + histogram[rank]);
  z += kCount * Sigma(histogram[0] / kCount);
  constexpr double kAlpha = 0.7213475204444817;  // 1 / (2 ln 2)
  return std::llround(kAlpha * kCount * kCount / z);
}

void HyperLogLog::Serialize(std::string* out) const {
  if (dense_) {
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
  dense_.reset();
  if (in->empty()) return false;
  const char form = in->front();
  in->remove_prefix(1);
  if (form == kDenseForm) {
    if (in->size() < kRegisters) return false;
    dense_ = std::make_unique<uint8_t[]>(kRegisters);
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
