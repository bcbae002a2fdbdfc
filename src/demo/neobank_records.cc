#include "demo/neobank_records.h"

#include <cstring>

namespace caudal {
namespace {

// MurmurHash2 of 32 bits, with the seed that Kafka gives it.
uint32_t Murmur2(std::string_view bytes) {
  constexpr uint32_t kMultiplier = 0x5bd1e995, kSeed = 0x9747b28c;
  uint32_t hash = kSeed ^ static_cast<uint32_t>(bytes.size());
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    uint32_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    word *= kMultiplier;
    word ^= word >> 24;
    hash = (hash * kMultiplier) ^ (word * kMultiplier);
  }
  if (!bytes.empty()) {
    uint32_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    hash = (hash ^ rest) * kMultiplier;
  }
  hash = (hash ^ (hash >> 13)) * kMultiplier;
  return hash ^ (hash >> 15);
}

}  // namespace

uint32_t NeobankRecords::PartitionOf(std::string_view key, uint32_t partitions) {
  return (Murmur2(key) & 0x7fffffff) % partitions;
}

NeobankRecords::NeobankRecords(const NeobankOptions& options, NeobankExpectation* expectation)
    : expectation_(expectation), generator_(options), sent_(options.partitions, 0) {}

bool NeobankRecords::Next(NeobankRecord* record) {
  if (next_ == ready_) {
    next_ = 0;
    for (ready_ = 0; ready_ < kAhead && generator_.Next(&ahead_[ready_]); ++ready_) {
      if (expectation_ != nullptr) expectation_->Prefetch(ahead_[ready_]);
    }
    if (ready_ == 0) return false;
  }
  const NeobankEvent& event = ahead_[next_++];
  record->key = {key_, static_cast<size_t>(NeobankText::PutAccount(key_, event.account) - key_)};
  record->value = {line_, static_cast<size_t>(encoder_.Encode(line_, event) - line_) - 1};
  record->partition = PartitionOf(record->key, static_cast<uint32_t>(sent_.size()));
  record->offset = sent_[record->partition]++;
  record->index = index_++;
  if (expectation_ != nullptr) {
    expectation_->Observe(event, {record->partition, record->partition, record->offset});
  }
  return true;
}

}  // namespace caudal
