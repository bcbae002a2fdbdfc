#include "data/string_dictionary.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace caudal {

namespace {
constexpr size_t kDictionaryArenaBytes = 16 * 1024;
}  // namespace

StringDictionary::StringDictionary(uint64_t id)
    : id_(id),
      slots_(Buffer::Allocate(kCapacity * sizeof(StringView))),
      views_(slots_->mutable_as<StringView>()) {}

size_t StringDictionary::bytes() const {
  size_t total = slots_->capacity();
  for (const MutableBufferPtr& arena : arenas_) total += arena->capacity();
  return total;
}

int32_t StringDictionary::Append(std::string_view value) {
  CHECK(!full());
  StringView* slot = views_ + size_;
  if (value.size() <= StringView::kInline) {
    new (slot) StringView(value);
    return size_++;
  }
  if (arenas_.empty() || arenas_.back()->size() + value.size() > arenas_.back()->capacity()) {
    MutableBufferPtr arena = Buffer::Allocate(std::max(kDictionaryArenaBytes, value.size()));
    arena->set_size(0);
    arenas_.push_back(std::move(arena));
  }
  Buffer& arena = *arenas_.back();
  char* bytes = arena.mutable_data() + arena.size();
  std::copy(value.begin(), value.end(), bytes);
  arena.set_size(arena.size() + value.size());
  new (slot) StringView(std::string_view(bytes, value.size()));
  return size_++;
}

}  // namespace caudal
