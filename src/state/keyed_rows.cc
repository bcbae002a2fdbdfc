#include "state/keyed_rows.h"

#include <algorithm>
#include <utility>

#include "state/record.h"

namespace caudal {
namespace {

constexpr std::string_view kRowsMagic = "KROW";
constexpr uint8_t kRowsVersion = 1;
constexpr char kErased = 0;
constexpr char kRow = 1;
constexpr uint32_t kMeasureEvery = 16;  // touches of a row between two looks at what hangs from it
constexpr int kExpirySteps = 10'000;    // entries looked at a call
constexpr int64_t kUnstamped = 0;       // touched before the first watermark
constexpr int64_t kHeld = INT64_MAX;

}  // namespace

KeyedRows::KeyedRows(std::string name, std::string key_types, const RowCodec* codec, int64_t ttl)
    : name_(std::move(name)),
      key_types_(std::move(key_types)),
      codec_(codec),
      ttl_(ttl),
      table_(codec->width()) {}

KeyedRows::~KeyedRows() {
  table_.ForEach([this](KeyEntry* entry) { codec_->Destroy(entry->row()); });
}

bool KeyedRows::Expired(const KeyEntry& entry) const {
  if (ttl_ == 0 || entry.stamp == kUnstamped || entry.stamp == kHeld) return false;
  return now_ != Watermark::kNone && now_ - entry.stamp >= ttl_;
}

void KeyedRows::FindOrInsert(const RowKeys& keys, std::vector<KeyEntry*>* entries) {
  table_.FindOrInsertAll(keys, entries, [this](KeyEntry* entry) { codec_->Init(entry->row()); });
  if (ttl_ == 0) return;
  for (KeyEntry* entry : *entries) {
    if (!Expired(*entry)) continue;
    codec_->Destroy(entry->row());
    codec_->Init(entry->row());
    Touch(entry);
  }
}

KeyEntry* KeyedRows::FindOrInsert(std::string_view key, uint64_t hash) {
  bool inserted;
  KeyEntry* entry = table_.FindOrInsert(key, hash, &inserted);
  if (inserted) codec_->Init(entry->row());
  return entry;
}

void KeyedRows::Measure(KeyEntry* entry) {
  const uint32_t extra = static_cast<uint32_t>(codec_->ExtraBytes(entry->row()));
  extra_bytes_ += int64_t{extra} - int64_t{entry->extra};
  entry->extra = extra;
}

void KeyedRows::Touch(KeyEntry* entry) {
  if (ttl_ > 0) entry->stamp = now_ == Watermark::kNone ? kUnstamped : now_;
  if (entry->touches++ % kMeasureEvery == 0) Measure(entry);
  if (!tracking_ || entry->mark != 0) return;
  changed_.push_back(entry);
  entry->mark = static_cast<uint32_t>(changed_.size());
}

void KeyedRows::Hold(KeyEntry* entry) {
  if (ttl_ > 0) entry->stamp = kHeld;
}

void KeyedRows::Erase(KeyEntry* entry) {
  if (entry->mark != 0) changed_[entry->mark - 1] = nullptr;
  if (tracking_) {
    PutBytes(table_.key(*entry), &erased_);
    erased_.push_back(kErased);
  }
  extra_bytes_ -= entry->extra;
  codec_->Destroy(entry->row());
  table_.Erase(entry);
}

std::string KeyedRows::Fingerprint() const {
  return "keyed-rows 1 (" + key_types_ + ") " + codec_->Fingerprint();
}

void KeyedRows::PutRow(KeyEntry* entry, std::string* out) {
  entry->mark = 0;
  PutBytes(table_.key(*entry), out);
  out->push_back(kRow);
  PutFixed64(static_cast<uint64_t>(entry->stamp), out);
  scratch_.clear();
  codec_->Encode(entry->row(), &scratch_);
  PutBytes(scratch_, out);
}

std::string KeyedRows::NextSegment(SnapshotKind kind) {
  std::string segment(kRowsMagic);
  segment.push_back(static_cast<char>(kRowsVersion));
  const size_t header = segment.size();
  if (kind == SnapshotKind::kFull || !tracking_) {
    table_.WalkEvenly(&snapshot_, [&](KeyEntry* entry) {
      if (segment.size() >= kSegmentBytes) return false;
      PutRow(entry, &segment);
      return true;
    });
  } else {
    // A key erased and made again stands here twice, the row last.
    segment += std::exchange(erased_, std::string());
    for (; snapshot_change_ < changed_.size() && segment.size() < kSegmentBytes; ++snapshot_change_) {
      if (changed_[snapshot_change_] != nullptr) PutRow(changed_[snapshot_change_], &segment);
    }
  }
  if (segment.size() > header) return segment;
  snapshot_ = Cursor();
  snapshot_change_ = 0;
  changed_.clear();
  erased_.clear();
  tracking_ = true;
  return std::string();
}

Status KeyedRows::RestoreSegment(std::string_view segment, KeyGroupRange groups) {
  RecordReader reader(segment);
  RETURN_IF_ERROR(ExpectHeader(kRowsMagic, kRowsVersion, name_, &reader));
  while (!reader.empty()) {
    const std::string_view key = reader.Bytes();
    const uint8_t what = reader.Byte();
    const uint64_t stamp = what == kRow ? reader.Fixed64() : 0;
    std::string_view row = what == kRow ? reader.Bytes() : std::string_view();
    if (!reader.ok() || what > kRow) return DamagedSegment(name_);
    const uint64_t hash = RowKeys::Hash(key);
    if (!groups.Contains(RowKeys::KeyGroup(hash))) continue;
    if (KeyEntry* old = table_.Find(key, hash)) {
      extra_bytes_ -= old->extra;
      codec_->Destroy(old->row());
      table_.Erase(old);
    }
    if (what == kErased) continue;
    KeyEntry* entry = FindOrInsert(key, hash);
    entry->stamp = static_cast<int64_t>(stamp);
    RETURN_IF_ERROR(codec_->Decode(&row, entry->row()));
    if (!row.empty()) return DamagedSegment(name_);
    Measure(entry);
  }
  return Status();
}

Status KeyedRows::Restore(const std::vector<std::string>& segments, KeyGroupRange groups) {
  for (const std::string& segment : segments) RETURN_IF_ERROR(RestoreSegment(segment, groups));
  tracking_ = true;
  return Status();
}

void KeyedRows::Expire(const Watermark& watermark) {
  now_ = watermark.processing;
  if (ttl_ == 0 || now_ == Watermark::kNone) return;
  std::vector<KeyEntry*> gone;
  int left = kExpirySteps;
  const bool end = table_.Walk(&expiry_, [&](KeyEntry* entry) {
    if (entry->stamp == kUnstamped) entry->stamp = now_;
    if (Expired(*entry)) gone.push_back(entry);
    return --left > 0;
  });
  if (end) expiry_ = Cursor();
  for (KeyEntry* entry : gone) Erase(entry);
}

int64_t KeyedRows::bytes() const {
  return table_.bytes() + extra_bytes_ + static_cast<int64_t>(changed_.capacity() * sizeof(KeyEntry*)) +
         static_cast<int64_t>(erased_.capacity());
}

}  // namespace caudal
