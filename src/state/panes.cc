#include "state/panes.h"

#include <algorithm>

#include "state/record.h"

namespace caudal {
namespace {

constexpr std::string_view kPanesMagic = "PANE";
constexpr uint8_t kPanesVersion = 1;
constexpr uint32_t kMeasurePaneEvery = 64;  // of `touches` between two looks at what hangs from a pane
constexpr size_t kBytesAPaneListed = sizeof(uint32_t);
constexpr uint32_t kChanged = PaneHeader::kChanged, kTouched = PaneHeader::kTouched;
constexpr size_t kGroupBytes = 64 * 1024;  // of panes behind one slice number in a snapshot, about

}  // namespace

Panes::Panes(std::string name, std::string key_types, std::string slices, const RowCodec* codec)
    : name_(std::move(name)),
      key_types_(std::move(key_types)),
      slice_words_(std::move(slices)),
      codec_(codec),
      table_(sizeof(Run)),
      pane_rows_(codec->width()) {}

Panes::~Panes() {
  table_.ForEach([](KeyEntry* entry) { delete attachment(*entry); });
  for (auto& [number, slice] : slices_) {
    for (const uint32_t pane : slice.all) codec_->Destroy(pane_rows_.row(pane));
  }
}

void Panes::InitRun(KeyEntry* entry) {
  Run* run = reinterpret_cast<Run*>(entry->row());
  *run = {&run->only, 0, 1, nullptr, {}};
}

KeyEntry* Panes::EntryFor(std::string_view key, uint64_t hash) {
  bool inserted;
  KeyEntry* entry = table_.FindOrInsert(key, hash, &inserted);
  if (inserted) InitRun(entry);
  return entry;
}

Panes::Slice& Panes::SliceFor(int64_t slice) {
  if (last_slice_ != nullptr && last_slice_->first == slice) return last_slice_->second;
  const auto [found, inserted] = slices_.try_emplace(slice);
  if (inserted) found->second.number = pane_rows_.AddSlice(slice);
  last_slice_ = &*found;
  return last_slice_->second;
}

// By half: most keys have some tens of panes, of which a doubled list would leave a third empty.
void Panes::WidenRun(Run* run) {
  const uint32_t capacity = std::max(4u, run->capacity + run->capacity / 2);
  auto* wider = reinterpret_cast<ListedPane*>(lists_.Allocate(capacity * sizeof(ListedPane)));
  std::copy(run->panes, run->panes + run->size, wider);
  FreeList(*run);
  run->panes = wider;
  run->capacity = capacity;
}

void Panes::FreeList(const Run& run) {
  if (run.panes == &run.only) return;
  lists_.Free(reinterpret_cast<char*>(run.panes), run.capacity * sizeof(ListedPane));
}

uint32_t Panes::AddPane(KeyEntry* entry, uint32_t at, int64_t slice, int64_t from_end) {
  Run* run = reinterpret_cast<Run*>(entry->row());
  if (run->size == run->capacity) WidenRun(run);
  std::copy_backward(run->panes + at, run->panes + run->size, run->panes + run->size + 1);
  Slice& notes = SliceFor(slice);
  const uint32_t pane = pane_rows_.Add(entry, from_end);
  codec_->Init(pane_rows_.row(pane));
  run->panes[at] = {notes.number, pane};
  ++run->size;
  ++rows_;
  notes.all.push_back(pane);
  return pane;
}

uint32_t Panes::PaneFor(KeyEntry* entry, int64_t slice, int64_t from_end) {
  const Run* run = reinterpret_cast<const Run*>(entry->row());
  const PaneList panes = this->panes(*entry);
  // From the end, where the newest slices are; where they follow one another, at once from where it stands.
  uint32_t at = run->size;
  if (at > 0 && panes.slice(at - 1) > slice) {
    const int64_t before_last = panes.slice(at - 1) - slice;
    if (before_last < int64_t{at}) at -= static_cast<uint32_t>(before_last);
    while (at < run->size && panes.slice(at) <= slice) ++at;
  }
  for (; at > 0 && panes.slice(at - 1) >= slice; --at) {
    if (panes.slice(at - 1) == slice && panes[at - 1].from_end() == from_end) return run->panes[at - 1].row;
  }
  return AddPane(entry, at, slice, from_end);
}

void Panes::Measure(char* row) {
  PaneHeader* header = PaneHeader::Of(row);
  extra_bytes_ -= header->extra_bytes();
  header->set_extra_bytes(static_cast<uint64_t>(codec_->ExtraBytes(row)));
  extra_bytes_ += header->extra_bytes();
}

void Panes::NoteChange(KeyEntry* entry, int64_t slice, uint32_t pane) {
  char* row = pane_rows_.row(pane);
  PaneHeader* header = PaneHeader::Of(row);
  if (entry->touches++ % kMeasurePaneEvery == 0) Measure(row);
  const uint32_t wanted = (tracking_ ? kChanged : 0) | (remember_touched_ ? kTouched : 0);
  const uint32_t missing = wanted & ~header->noted();
  if (missing == 0) return;
  header->Note(missing);
  Slice& notes = SliceFor(slice);
  if (missing & kChanged) notes.changed.push_back(pane);
  if (missing & kTouched) notes.touched.push_back(pane);
}

void Panes::Locate(const RowKeys& keys, std::span<const int64_t> slices, std::span<const int64_t> from_ends,
                   std::vector<char*>* rows) {
  table_.FindOrInsertAll(keys, &entries_, InitRun);
  rows->resize(entries_.size());
  located_.resize(entries_.size());
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i + kAhead < entries_.size()) {
      const Run* ahead = reinterpret_cast<const Run*>(entries_[i + kAhead]->row());
      if (ahead->size > 0) __builtin_prefetch(&ahead->panes[ahead->size - 1]);
    }
    located_[i] = PaneFor(entries_[i], slices[i], from_ends[i]);
    (*rows)[i] = pane_rows_.row(located_[i]);
    __builtin_prefetch((*rows)[i], 1);
  }
  for (size_t i = 0; i < entries_.size(); ++i) NoteChange(entries_[i], slices[i], located_[i]);
}

char* Panes::LocateOne(std::string_view key, uint64_t hash, int64_t slice) {
  KeyEntry* entry = EntryFor(key, hash);
  const uint32_t pane = PaneFor(entry, slice, kAllEnds);
  NoteChange(entry, slice, pane);
  return pane_rows_.row(pane);
}

std::vector<Panes::Touched> Panes::TakeTouched() {
  std::vector<Touched> all;
  for (auto& [number, slice] : slices_) {
    for (size_t i = 0; i < slice.touched.size(); ++i) {
      PrefetchPane(slice.touched, i);
      PaneHeader* header = PaneHeader::Of(pane_rows_.row(slice.touched[i]));
      header->Forget(kTouched);
      all.push_back({header->entry()->hash, header->entry(), number});
    }
    slice.touched.clear();
  }
  std::sort(all.begin(), all.end(), [this](const Touched& a, const Touched& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    if (a.entry != b.entry) return Before(a.entry, b.entry);
    return a.slice < b.slice;
  });
  return all;
}

bool Panes::NextSlice(int64_t from, int64_t* slice) const {
  const auto found = slices_.lower_bound(from);
  if (found == slices_.end()) return false;
  *slice = found->first;
  return true;
}

int64_t Panes::slice_size(int64_t slice) const {
  const auto found = slices_.find(slice);
  return found == slices_.end() ? 0 : static_cast<int64_t>(found->second.all.size());
}

void Panes::AppendKeys(int64_t slice, std::vector<KeyEntry*>* entries) const {
  const auto found = slices_.find(slice);
  if (found == slices_.end()) return;
  for (const uint32_t pane : found->second.all) {
    entries->push_back(PaneHeader::Of(pane_rows_.row(pane))->entry());
  }
}

void Panes::RemovePane(uint32_t pane) {
  char* row = pane_rows_.row(pane);
  const PaneHeader* header = PaneHeader::Of(row);
  KeyEntry* entry = header->entry();
  Run* run = reinterpret_cast<Run*>(entry->row());
  uint32_t at = 0;
  while (run->panes[at].row != pane) ++at;
  std::copy(run->panes + at + 1, run->panes + run->size, run->panes + at);
  --run->size;
  extra_bytes_ -= header->extra_bytes();
  codec_->Destroy(row);
  pane_rows_.Remove(pane);
  --rows_;
  if (run->size > 0) return;
  delete run->attachment;
  FreeList(*run);
  table_.Erase(entry);
}

// What RemovePane looks at lies in three places, none of them near: in three steps, each of which knows the
// next place from what the one before has brought.
void Panes::PrefetchRemoval(const Numbers& panes) const {
  constexpr size_t kAhead = 6;
  const auto row = [&](size_t ahead) { return pane_rows_.row(panes[panes.size() - 1 - ahead]); };
  if (panes.size() > 3 * kAhead) __builtin_prefetch(PaneHeader::Of(row(3 * kAhead)), 1);
  if (panes.size() > 2 * kAhead) __builtin_prefetch(PaneHeader::Of(row(2 * kAhead))->entry()->row(), 1);
  if (panes.size() > kAhead) Prefetch(*PaneHeader::Of(row(kAhead))->entry());
}

bool Panes::DropBefore(int64_t slice, int64_t limit) {
  while (!slices_.empty() && slices_.begin()->first < slice) {
    Slice& oldest = slices_.begin()->second;
    oldest.changed.clear();  // may point to what goes now, and nobody needs it any more
    oldest.touched.clear();
    while (!oldest.all.empty()) {
      if (limit-- <= 0) return false;
      PrefetchRemoval(oldest.all);
      RemovePane(oldest.all.back());
      oldest.all.pop_back();
    }
    last_slice_ = nullptr;
    pane_rows_.RemoveSlice(oldest.number);
    slices_.erase(slices_.begin());
  }
  return true;
}

std::string Panes::Fingerprint() const {
  return "panes 1 (" + key_types_ + ") " + slice_words_ + " " + codec_->Fingerprint();
}

void Panes::PutPane(char* row, std::string* out) {
  const PaneHeader* header = PaneHeader::Of(row);
  PutBytes(table_.key(*header->entry()), out);
  PutFixed64(static_cast<uint64_t>(header->from_end()), out);
  scratch_.clear();
  codec_->Encode(row, &scratch_);
  PutBytes(scratch_, out);
}

// A pane and its key lie in two places, neither near those of the pane before; the key's is known from the
// pane's header. A row is written to, too.
void Panes::PrefetchPane(const Numbers& panes, size_t at) const {
  constexpr size_t kAhead = 10;
  constexpr size_t kLine = 64;
  if (at + 2 * kAhead < panes.size()) {
    const char* header = pane_rows_.row(panes[at + 2 * kAhead]) - sizeof(PaneHeader);
    __builtin_prefetch(header, 1);
    __builtin_prefetch(header + kLine);
  }
  if (at + kAhead >= panes.size()) return;
  const KeyEntry* entry = PaneHeader::Of(pane_rows_.row(panes[at + kAhead]))->entry();
  __builtin_prefetch(entry);
  __builtin_prefetch(reinterpret_cast<const char*>(entry) + kLine);
}

std::string Panes::NextSegment(SnapshotKind kind) {
  const bool full = kind == SnapshotKind::kFull || !tracking_;
  std::string segment;
  for (auto at = slices_.lower_bound(snapshot_slice_); at != slices_.end(); ++at) {
    auto& [number, slice] = *at;
    if (number != snapshot_slice_) snapshot_pane_ = 0;
    snapshot_slice_ = number;
    const Numbers& panes = full ? slice.all : slice.changed;
    while (snapshot_pane_ < panes.size()) {
      if (segment.size() >= kSegmentBytes) return segment;
      if (segment.empty()) {
        // Growing bit by bit would touch, and copy, twice as much memory.
        segment.reserve(kSegmentBytes + 2 * kGroupBytes);
        segment.append(kPanesMagic).push_back(static_cast<char>(kPanesVersion));
      }
      // A slice number stands before a group of panes and how many they are.
      const size_t first = snapshot_pane_;
      group_.clear();
      for (; snapshot_pane_ < panes.size() && group_.size() < kGroupBytes; ++snapshot_pane_) {
        PrefetchPane(panes, snapshot_pane_);
        char* row = pane_rows_.row(panes[snapshot_pane_]);
        PutPane(row, &group_);
        PaneHeader::Of(row)->Forget(kChanged);
      }
      PutFixed64(static_cast<uint64_t>(number), &segment);
      PutVarint(snapshot_pane_ - first, &segment);
      segment.append(group_);
    }
    Numbers().swap(slice.changed);  // most slices get no more rows
  }
  if (!segment.empty()) return segment;
  snapshot_slice_ = std::numeric_limits<int64_t>::min();
  snapshot_pane_ = 0;
  tracking_ = true;
  return segment;
}

Status Panes::RestorePane(int64_t slice, KeyGroupRange groups, std::string_view key, int64_t from_end,
                          std::string_view encoded) {
  const uint64_t hash = RowKeys::Hash(key);
  if (!groups.Contains(RowKeys::KeyGroup(hash))) return Status();
  KeyEntry* entry = EntryFor(key, hash);
  const uint32_t pane = PaneFor(entry, slice, from_end);
  char* row = pane_rows_.row(pane);
  codec_->Destroy(row);
  codec_->Init(row);
  RETURN_IF_ERROR(codec_->Decode(&encoded, row));
  if (!encoded.empty()) return DamagedSegment(name_);
  Measure(row);
  PaneHeader* header = PaneHeader::Of(row);
  // Who asked for touched panes cannot know which of these it has seen.
  if (remember_touched_ && (header->noted() & kTouched) == 0) {
    header->Note(kTouched);
    SliceFor(slice).touched.push_back(pane);
  }
  return Status();
}

Status Panes::RestoreSegment(std::string_view segment, KeyGroupRange groups) {
  RecordReader reader(segment);
  RETURN_IF_ERROR(ExpectHeader(kPanesMagic, kPanesVersion, name_, &reader));
  while (!reader.empty()) {
    const int64_t slice = static_cast<int64_t>(reader.Fixed64());
    for (uint64_t left = reader.Varint(); left > 0; --left) {
      const std::string_view key = reader.Bytes();
      const int64_t from_end = static_cast<int64_t>(reader.Fixed64());
      const std::string_view row = reader.Bytes();
      if (!reader.ok()) return DamagedSegment(name_);
      RETURN_IF_ERROR(RestorePane(slice, groups, key, from_end, row));
    }
    if (!reader.ok()) return DamagedSegment(name_);
  }
  return Status();
}

Status Panes::Restore(const std::vector<std::string>& segments, KeyGroupRange groups) {
  for (const std::string& segment : segments) RETURN_IF_ERROR(RestoreSegment(segment, groups));
  tracking_ = true;
  return Status();
}

int64_t Panes::bytes() const {
  return table_.bytes() + lists_.bytes() + pane_rows_.bytes() + extra_bytes_ +
         rows_ * static_cast<int64_t>(kBytesAPaneListed);
}

}  // namespace caudal
