#include "state/key_generations.h"

#include <algorithm>
#include <limits>

#include "state/record.h"

namespace caudal {
namespace {

constexpr std::string_view kMagic = "KGEN";
constexpr uint8_t kVersion = 1;
constexpr int64_t kPerRetain = 4;             // generations that `retain` is divided into
constexpr size_t kMostGenerations = 8;        // from then on the nearest one takes what would open another
constexpr int64_t kReach = int64_t{1} << 31;  // how far from a generation's opening time its keys may lie
constexpr int64_t kFirstSegment = 8192;
constexpr int64_t kGrowth = 8;
constexpr int32_t kAhead = 16;  // rows whose lines are fetched before they are looked at

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::numeric_limits<int64_t>::max();
  return sum;
}

void PutHeader(std::string* out) {
  out->append(kMagic);
  out->push_back(static_cast<char>(kVersion));
}

void PutEntry(std::string_view key, int64_t time, std::string* out) {
  PutBytes(key, out);
  PutFixed64(static_cast<uint64_t>(time), out);
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

KeyGenerations::KeyGenerations(std::string name, std::string key_types, int64_t retain)
    : name_(std::move(name)),
      key_types_(std::move(key_types)),
      retain_(retain),
      width_(std::clamp<int64_t>((retain - 1) / kPerRetain + 1, 1, kReach)) {}

bool KeyGenerations::Known(std::string_view key, uint64_t hash, int64_t clock) const {
  for (const KeySegment* segment : segments_) {
    int64_t time;
    if (segment->MayContain(hash) && segment->Find(key, hash, &time) && clock < SaturatingAdd(time, retain_))
      return true;
  }
  return false;
}

KeyGenerations::Generation* KeyGenerations::GenerationFor(int64_t time) {
  const int64_t number = FloorDivide(time, width_);
  Generation* nearest = nullptr;
  for (Generation& generation : generations_) {
    if (generation.number == number) return &generation;
    if (time < generation.base || time - generation.base >= 2 * kReach) continue;
    if (nearest == nullptr || std::abs(generation.number - number) < std::abs(nearest->number - number)) {
      nearest = &generation;
    }
  }
  if (generations_.size() >= kMostGenerations && nearest != nullptr) return nearest;
  return &generations_.emplace_back(Generation{number, number * width_ - kReach, time, {}});
}

void KeyGenerations::Insert(std::string_view key, uint64_t hash, int64_t time) {
  Generation* generation = GenerationFor(time);
  if (generation->segments.empty() || generation->segments.back()->full()) {
    // A first segment for as many keys as another generation has, then ever larger ones.
    int64_t keys = std::max(kFirstSegment, last_size_ + last_size_ / 8);
    for (const Generation& other : generations_) {
      int64_t size = 0;
      for (const auto& segment : other.segments) size += segment->size();
      keys = std::max(keys, size + size / 8);
    }
    if (!generation->segments.empty()) keys = std::max(keys, kGrowth * generation->segments.back()->size());
    generation->segments.push_back(std::make_unique<KeySegment>(keys, generation->base));
    segments_.insert(segments_.begin(), generation->segments.back().get());
  }
  last_inserted_ = generation->segments.back().get();
  last_inserted_->Insert(key, hash, time);
  generation->latest = std::max(generation->latest, time);
  ++rows_;
}

void KeyGenerations::Remember(const RowKeys& keys, std::span<const int64_t> times,
                              std::span<const int64_t> clocks, std::vector<uint8_t>* is_new) {
  const int32_t count = keys.size();
  is_new->resize(static_cast<size_t>(count));
  for (int32_t block = 0; block < count; block += kAhead) {
    const int32_t end = std::min(block + kAhead, count);
    for (const KeySegment* segment : segments_) {
      for (int32_t i = block; i < end; ++i) segment->PrefetchFilter(keys.hash(i));
    }
    // Most keys are new and go where the last one went.
    for (int32_t i = block; last_inserted_ != nullptr && i < end; ++i) last_inserted_->Prefetch(keys.hash(i));
    for (int32_t i = block; i < end; ++i) {
      const size_t at = static_cast<size_t>(i);
      const bool fresh = !Known(keys.key(i), keys.hash(i), clocks[at]);
      (*is_new)[at] = fresh;
      if (!fresh) continue;
      Insert(keys.key(i), keys.hash(i), times[at]);
      if (!tracking_) continue;
      if (changes_.empty()) PutHeader(&changes_);
      PutEntry(keys.key(i), times[at], &changes_);
    }
  }
}

void KeyGenerations::Expire(const Watermark& watermark) {
  if (retain_ == kForever && watermark.event != Watermark::kEnd) return;
  for (size_t g = 0; g < generations_.size(); ++g) {
    Generation& generation = generations_[g];
    if (watermark.event < SaturatingAdd(generation.latest, retain_)) continue;
    last_size_ = 0;
    for (const auto& segment : generation.segments) {
      last_size_ += segment->size();
      std::erase(segments_, segment.get());
    }
    last_inserted_ = nullptr;
    rows_ -= last_size_;
    generations_.erase(generations_.begin() + static_cast<std::ptrdiff_t>(g));
    return;
  }
}

std::string KeyGenerations::Snapshot(SnapshotKind kind) {
  std::string segment;
  // Before the first snapshot nothing is noted, since a query without checkpoints would note for ever.
  if (kind == SnapshotKind::kFull || !tracking_) {
    if (rows_ > 0) PutHeader(&segment);
    for (const KeySegment* from : segments_) {
      from->ForEach([&](std::string_view key, int64_t time) { PutEntry(key, time, &segment); });
    }
    changes_.clear();
  } else {
    segment.swap(changes_);
    changes_.reserve(segment.size() + segment.size() / 4);
  }
  tracking_ = true;
  return segment;
}

Status KeyGenerations::RestoreSegment(std::string_view segment, KeyGroupRange groups) {
  RecordReader reader(segment);
  RETURN_IF_ERROR(ExpectHeader(kMagic, kVersion, name_, &reader));
  while (!reader.empty()) {
    const std::string_view key = reader.Bytes();
    const int64_t time = static_cast<int64_t>(reader.Fixed64());
    if (!reader.ok()) return DamagedSegment(name_);
    const uint64_t hash = RowKeys::Hash(key);
    if (groups.Contains(RowKeys::KeyGroup(hash))) Insert(key, hash, time);
  }
  return Status();
}

Status KeyGenerations::Restore(const std::vector<std::string>& segments, KeyGroupRange groups) {
  for (const std::string& segment : segments) RETURN_IF_ERROR(RestoreSegment(segment, groups));
  tracking_ = true;
  return Status();
}

int64_t KeyGenerations::bytes() const {
  int64_t bytes = static_cast<int64_t>(changes_.capacity());
  for (const KeySegment* segment : segments_) bytes += segment->bytes();
  return bytes;
}

}  // namespace caudal
