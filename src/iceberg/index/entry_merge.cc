#include "iceberg/index/entry_merge.h"

#include <algorithm>

namespace caudal::iceberg {

bool EntryMerge::Behind(const Front& a, const Front& b) {
  return a.entry.key == b.entry.key ? a.source > b.source : b.entry.key < a.entry.key;
}

Status EntryMerge::Take(size_t source) {
  ASSIGN_OR_RETURN(const IndexEntry* entry, sources_[source]->Next());
  if (entry == nullptr) return Status();
  fronts_.push_back({*entry, source});
  std::push_heap(fronts_.begin(), fronts_.end(), Behind);
  return Status();
}

Result<const EntryMerge::Merged*> EntryMerge::Next() {
  if (!std::exchange(begun_, true)) {
    for (size_t source = 0; source < sources_.size(); ++source) RETURN_IF_ERROR(Take(source));
  }
  if (fronts_.empty()) return nullptr;
  std::pop_heap(fronts_.begin(), fronts_.end(), Behind);
  const Front front = fronts_.back();
  fronts_.pop_back();
  RETURN_IF_ERROR(Take(front.source));
  merged_ = {front.entry, front.source, !fronts_.empty() && fronts_.front().entry.key == front.entry.key};
  return &merged_;
}

}  // namespace caudal::iceberg
