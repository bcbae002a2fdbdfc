#include "state/key_generations.h"

#include <algorithm>
#include <limits>

#include "state/record.h"

namespace caudal {
namespace {

constexpr std::string_view kMagic = "KGEN";
constexpr uint8_t kVersion = 1;
constexpr int64_t kPerRetain = 4;  // generations that `retain` is divided into
// From then on the nearest generation takes what would open another, unless it is the next one: clocks that
// stand far back keep many in a row, and one that took its neighbour's keys would outgrow its segment.
constexpr size_t kMostGenerations = 8;
constexpr size_t kMostInARow = 24;
constexpr int64_t kReach = int64_t{1} << 31;  // how far from a generation's opening time its keys may lie
constexpr int64_t kFirstSegment = 512;
// What a generation opens when its first segment was too small: much if nothing was known of its size, a
// little if another generation had told it, since memory is taken for all of it.
constexpr int64_t kGrowthUnknown = 8;
constexpr int64_t kSlack = 32;  // a generation may be larger than the last by a part of that many
constexpr int32_t kBlock = 32;  // rows whose lines are fetched before they are looked at
constexpr size_t kLastBit = 63;
constexpr size_t kUuidEntry = 26;            // bytes of a UUID and its time in a snapshot
constexpr size_t kSpare = size_t{32} << 10;  // a segment is longer than kSegmentBytes by some buckets

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

bool KeyGenerations::KnownTo(const KeySegment& segment, std::string_view key, uint64_t hash,
                             int64_t clock) const {
  int64_t time;
  return segment.Find(key, hash, &time) && clock < SaturatingAdd(time, retain_);
}

bool KeyGenerations::Known(uint64_t hits, std::string_view key, uint64_t hash, int64_t clock) const {
  for (; hits != 0; hits &= hits - 1) {
    const size_t bit = static_cast<size_t>(__builtin_ctzll(hits));
    const size_t end = bit == kLastBit ? segments_.size() : bit + 1;
    for (size_t s = bit; s < end; ++s) {
      if (KnownTo(*segments_[s], key, hash, clock)) return true;
    }
  }
  return false;
}

void KeyGenerations::LookAhead(const RowKeys& keys, int32_t first, int32_t end, uint64_t* hits) const {
  // A segment at a time, so that many rows' filter words are on their way together.
  uint64_t hashes[kBlock], bits[kBlock];
  for (int32_t i = first; i < end; ++i) {
    hashes[i - first] = keys.hash(i);
    bits[i - first] = KeySegment::FilterBits(keys.hash(i));
    hits[i - first] = 0;
  }
  for (size_t s = 0; s < segments_.size(); ++s) {
    const KeySegment& segment = *segments_[s];
    const size_t bit = std::min(s, kLastBit);
    for (int32_t i = 0; i < end - first; ++i) {
      hits[i] |= uint64_t{segment.MayContain(hashes[i], bits[i])} << bit;
    }
  }
  // Most keys are new and go where the last one went; few of the others are in more than one segment.
  for (int32_t i = first; i < end; ++i) {
    if (last_inserted_ != nullptr) last_inserted_->Prefetch(keys.hash(i));
    const uint64_t hit = hits[i - first];
    if (hit != 0) segments_[static_cast<size_t>(__builtin_ctzll(hit))]->Prefetch(keys.hash(i));
  }
}

KeyGenerations::Generation* KeyGenerations::GenerationFor(int64_t time) {
  if (last_generation_ < generations_.size()) {
    Generation& last = generations_[last_generation_];
    const int64_t since =
        time - (last.base + kReach);  // its opening time; most keys come to where the last did
    if (since >= 0 && since < width_) return &last;
  }
  const int64_t number = FloorDivide(time, width_);
  Generation* nearest = nullptr;
  for (Generation& generation : generations_) {
    if (generation.number == number) return &generation;
    if (time < generation.base || time - generation.base >= 2 * kReach) continue;
    if (nearest == nullptr || std::abs(generation.number - number) < std::abs(nearest->number - number)) {
      nearest = &generation;
    }
  }
  if (generations_.size() >= kMostGenerations && nearest != nullptr) {
    const bool next = std::abs(nearest->number - number) == 1;
    if (!next || generations_.size() >= kMostInARow) return nearest;
  }
  return &generations_.emplace_back(Generation{number, number * width_ - kReach, time, {}});
}

KeySegment* KeyGenerations::AddSegment(Generation* generation) {
  // What other generations have tells how many keys to expect.
  int64_t expected = last_size_;
  int64_t own = 0;
  for (const Generation& other : generations_) {
    int64_t size = 0;
    for (const auto& segment : other.segments) size += segment->size();
    if (&other == generation) {
      own = size;
    } else {
      expected = std::max(expected, size);
    }
  }
  int64_t keys = std::max(kFirstSegment, expected + expected / kSlack);
  if (own > 0) {
    keys = own >= 2 * expected ? kGrowthUnknown * generation->segments.back()->size()
                               : std::max(kFirstSegment, own / 4);
  }
  generation->segments.push_back(std::make_unique<KeySegment>(keys, generation->base));
  segments_.push_back(generation->segments.back().get());
  return segments_.back();
}

void KeyGenerations::Insert(std::string_view key, uint64_t hash, int64_t time) {
  Generation* generation = GenerationFor(time);
  last_generation_ = static_cast<size_t>(generation - generations_.data());
  last_inserted_ = generation->segments.empty() || generation->segments.back()->full()
                       ? AddSegment(generation)
                       : generation->segments.back().get();
  last_inserted_->Insert(key, hash, time);
  generation->latest = std::max(generation->latest, time);
  ++rows_;
}

void KeyGenerations::Remember(const RowKeys& keys, std::span<const int64_t> times,
                              std::span<const int64_t> clocks, std::vector<uint8_t>* is_new) {
  const int32_t count = keys.size();
  is_new->resize(static_cast<size_t>(count));
  uint64_t hits[kBlock];
  for (int32_t block = 0; block < count; block += kBlock) {
    const int32_t end = std::min(block + kBlock, count);
    LookAhead(keys, block, end, hits);
    KeySegment* written[kBlock];  // segments that have got keys since then
    int32_t written_count = 0;
    for (int32_t i = block; i < end; ++i) {
      const size_t at = static_cast<size_t>(i);
      const std::string_view key = keys.key(i);
      const uint64_t hash = keys.hash(i);
      bool known = Known(hits[i - block], key, hash, clocks[at]);
      for (int32_t w = 0; !known && w < written_count; ++w) {
        known = written[w]->MayContain(hash, KeySegment::FilterBits(hash)) &&
                KnownTo(*written[w], key, hash, clocks[at]);
      }
      (*is_new)[at] = !known;
      if (known) continue;
      Insert(key, hash, times[at]);
      if (std::find(written, written + written_count, last_inserted_) == written + written_count) {
        written[written_count++] = last_inserted_;
      }
      if (tracking_) NoteChange(key, times[at], &generations_[last_generation_]);
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
    last_generation_ = generations_.size();
    rows_ -= last_size_;
    generations_.erase(generations_.begin() + static_cast<std::ptrdiff_t>(g));
    return;
  }
}

void KeyGenerations::NoteChange(std::string_view key, int64_t time, Generation* generation) {
  constexpr size_t kLongestEntry = 64;  // of those that need not be copied once more
  std::vector<std::string>& changes = generation->changes;
  if (changes.empty() || changes.back().size() + kLongestEntry > kSegmentBytes) {
    changes.emplace_back();
    // Many have come already: memory that is taken at once is not copied as it grows.
    if (changes.size() > 1) changes.back().reserve(kSegmentBytes);
    PutHeader(&changes.back());
  }
  PutEntry(key, time, &changes.back());
}

std::string KeyGenerations::NextChanges() {
  std::string segment;
  for (Generation& generation : generations_) {
    for (std::vector<std::string>& changes = generation.changes; !changes.empty(); changes.pop_back()) {
      std::string& next = changes.back();
      if (segment.empty()) {
        segment = std::move(next);
      } else if (segment.size() + next.size() <= kSegmentBytes) {
        segment.append(next, kMagic.size() + 1);
      } else {
        return segment;
      }
    }
  }
  return segment;
}

std::string KeyGenerations::NextSegment(SnapshotKind kind) {
  std::string segment;
  // Before the first snapshot nothing is noted, since a query without checkpoints would note for ever.
  if (kind == SnapshotKind::kFull || !tracking_) {
    while (snapshot_segment_ < segments_.size() && segment.size() < kSegmentBytes) {
      const bool some =
          segments_[snapshot_segment_]->VisitSome(&snapshot_bucket_, [&](std::string_view key, int64_t time) {
            if (segment.empty()) {
              // For most of it, though not more than there is.
              segment.reserve(std::min(kSegmentBytes, static_cast<size_t>(rows_) * kUuidEntry) + kSpare);
              PutHeader(&segment);
            }
            PutEntry(key, time, &segment);
          });
      if (some) continue;
      ++snapshot_segment_;
      snapshot_bucket_ = 0;
    }
    if (segment.empty()) {
      for (Generation& generation : generations_) generation.changes.clear();
    }
  } else {
    segment = NextChanges();
  }
  if (!segment.empty()) return segment;
  snapshot_segment_ = snapshot_bucket_ = 0;
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
  int64_t bytes = 0;
  for (const Generation& generation : generations_) {
    for (const std::string& changes : generation.changes) bytes += static_cast<int64_t>(changes.capacity());
  }
  for (const KeySegment* segment : segments_) bytes += segment->bytes();
  return bytes;
}

}  // namespace caudal
