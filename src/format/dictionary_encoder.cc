#include "format/dictionary_encoder.h"

namespace caudal {
namespace {

constexpr size_t kFirstSlots = 256;
constexpr int64_t kJudgedLookups = 1024;
constexpr int64_t kLookupsPerMiss = 4;  // fewer repetitions than that are not worth a dictionary

}  // namespace

void DictionaryEncoder::Start(uint64_t id) {
  writable_ = new StringDictionary(id);
  dictionary_ = StringDictionaryPtr(writable_);
  values_ = writable_->values();
  slots_.assign(kFirstSlots, Slot());
  mask_ = kFirstSlots - 1;
}

int32_t DictionaryEncoder::Insert(std::string_view text, uint64_t hash) {
  ++misses_;
  if (writable_->full()) {
    worthwhile_ = false;
    return kFull;
  }
  if (static_cast<size_t>(writable_->size() + 1) * 2 > slots_.size()) Grow();
  const int32_t code = writable_->Append(text);
  size_t i = hash & mask_;
  while (slots_[i].code >= 0) i = (i + 1) & mask_;
  slots_[i] = {static_cast<uint32_t>(hash >> 32), code};
  return code;
}

void DictionaryEncoder::Grow() {
  slots_.assign(slots_.size() * 2, Slot());
  mask_ = slots_.size() - 1;
  for (int32_t code = 0; code < writable_->size(); ++code) {
    // A view shorter than 12 bytes lives in its slot of the dictionary, so 7 bytes past it are readable.
    const uint64_t hash = Hash(values_[code].view());
    size_t i = hash & mask_;
    while (slots_[i].code >= 0) i = (i + 1) & mask_;
    slots_[i] = {static_cast<uint32_t>(hash >> 32), code};
  }
}

void DictionaryEncoder::EndBatch() {
  if (writable_->size() > kMaxDistinct) worthwhile_ = false;
  if (lookups_ < kJudgedLookups) return;
  if (misses_ * kLookupsPerMiss > lookups_) worthwhile_ = false;
  lookups_ = misses_ = 0;
}

}  // namespace caudal
