#include "connect/collect/collected.h"

#include <fmt/format.h>

namespace caudal {

std::vector<Change> Collected::Committed(size_t from) const {
  std::lock_guard lock(mutex_);
  if (from >= committed_.size()) return {};
  return {committed_.begin() + static_cast<std::ptrdiff_t>(from), committed_.end()};
}

size_t Collected::committed_count() const {
  std::lock_guard lock(mutex_);
  return committed_.size();
}

Epoch Collected::last_epoch() const {
  std::lock_guard lock(mutex_);
  return last_epoch_;
}

std::string Collected::Stage(std::vector<Change> changes) {
  std::lock_guard lock(mutex_);
  std::string name = fmt::format("staged-{}", next_++);
  staged_[name].changes = std::move(changes);
  return name;
}

CommitResult Collected::Commit(Epoch epoch, const std::vector<std::string>& staged) {
  std::lock_guard lock(mutex_);
  if (refusals_left_ > 0) {
    --refusals_left_;
    return {refusal_, Status::External("the collecting table does not commit, as the test asked")};
  }
  for (const std::string& name : staged) {
    const auto found = staged_.find(name);
    if (found == staged_.end()) {
      return {CommitOutcome::kLost, Status::External(fmt::format("'{}' is gone", name))};
    }
    Prepared& prepared = found->second;
    if (prepared.committed) continue;
    committed_.insert(committed_.end(), prepared.changes.begin(), prepared.changes.end());
    prepared.committed = true;
    prepared.changes.clear();
  }
  if (epoch > last_epoch_) last_epoch_ = epoch;
  return {};
}

void Collected::DropStaged() {
  std::lock_guard lock(mutex_);
  std::erase_if(staged_, [](const auto& entry) { return !entry.second.committed; });
}

void Collected::Refuse(CommitOutcome outcome, int times) {
  std::lock_guard lock(mutex_);
  refusal_ = outcome;
  refusals_left_ = times;
}

Collected* CollectRegistry::Get(const std::string& table) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Collected>& collected = tables_[table];
  if (collected == nullptr) collected = std::make_unique<Collected>();
  return collected.get();
}

}  // namespace caudal
