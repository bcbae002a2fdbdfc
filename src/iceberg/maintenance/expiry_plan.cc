#include "iceberg/maintenance/expiry_plan.h"

#include <algorithm>
#include <set>

#include "iceberg/commit/token_tag.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kFiveDays = int64_t{5} * 24 * 3600 * 1000;

class Expiry {
 public:
  Expiry(const TableMetadata& table, const ExpiryPolicy& policy, int64_t now_ms)
      : table_(table), policy_(policy), now_(now_ms) {}

  ExpiryPlan Plan() {
    for (const auto& [name, ref] : table_.refs) {
      if (name.starts_with(kTokenTagPrefix)) continue;  // decided below
      if (IsTooOld(name, ref)) {
        plan_.refs.push_back(name);
      } else if (ref.type == "branch") {
        KeepBranch(name, ref);
      } else {
        kept_.insert(ref.snapshot_id);
      }
    }
    ForgetTags();
    KeepUnreferenced();
    for (const Snapshot& snapshot : table_.snapshots) {
      if (!kept_.contains(snapshot.snapshot_id)) plan_.snapshots.push_back(snapshot.snapshot_id);
    }
    return std::move(plan_);
  }

 private:
  int64_t MaxAge(const SnapshotRef* ref) const {
    if (policy_.max_snapshot_age_ms) return *policy_.max_snapshot_age_ms;
    if (ref != nullptr && ref->max_snapshot_age_ms) return *ref->max_snapshot_age_ms;
    return NumberProperty(table_, "history.expire.max-snapshot-age-ms", kFiveDays);
  }
  int64_t AtLeast(const SnapshotRef& ref) const {
    const int64_t least = policy_.min_snapshots_to_keep.value_or(ref.min_snapshots_to_keep.value_or(
        NumberProperty(table_, "history.expire.min-snapshots-to-keep", 1)));
    return std::max<int64_t>(1, least);
  }
  // `age` may be the largest number there is.
  bool IsOlder(const Snapshot& snapshot, int64_t age) const { return now_ - snapshot.timestamp_ms > age; }

  bool IsTooOld(const std::string& name, const SnapshotRef& ref) const {
    if (name == "main") return false;
    const Snapshot* head = table_.FindSnapshot(ref.snapshot_id);
    if (head == nullptr) return true;
    return IsOlder(*head, ref.max_ref_age_ms.value_or(
                              NumberProperty(table_, "history.expire.max-ref-age-ms", INT64_MAX)));
  }

  void KeepBranch(const std::string& name, const SnapshotRef& ref) {
    std::set<int64_t> told;  // without a gap from the head on
    const Snapshot* at = table_.FindSnapshot(ref.snapshot_id);
    while (at != nullptr &&
           static_cast<int64_t>(told.size()) <= static_cast<int64_t>(table_.snapshots.size())) {
      const bool few = static_cast<int64_t>(told.size()) < AtLeast(ref);
      if (!few && IsOlder(*at, MaxAge(&ref))) break;
      if (!told.insert(at->snapshot_id).second) break;
      at = at->parent_snapshot_id ? table_.FindSnapshot(*at->parent_snapshot_id) : nullptr;
    }
    kept_.insert(told.begin(), told.end());
    for (const auto& [pipeline, snapshot] : NewestTokens(table_, name)) {
      const std::string tag = TokenTagName(name, pipeline);
      if (told.contains(snapshot->snapshot_id)) continue;
      kept_.insert(snapshot->snapshot_id);
      tags_.insert(tag);
      const SnapshotRef* known = table_.FindRef(tag);
      // No age is too old for it, whatever the table says of refs.
      if (known == nullptr || known->snapshot_id != snapshot->snapshot_id)
        plan_.tags[tag] = {.snapshot_id = snapshot->snapshot_id, .type = "tag", .max_ref_age_ms = INT64_MAX};
    }
  }

  void ForgetTags() {
    for (const auto& [name, ref] : table_.refs) {
      if (name.starts_with(kTokenTagPrefix) && !tags_.contains(name)) plan_.refs.push_back(name);
    }
  }

  // What no ref leads to may be a commit that is about to get one.
  void KeepUnreferenced() {
    std::set<int64_t> led_to;
    for (const auto& [name, ref] : table_.refs) {
      const Snapshot* at = table_.FindSnapshot(ref.snapshot_id);
      while (at != nullptr && led_to.insert(at->snapshot_id).second)
        at = at->parent_snapshot_id ? table_.FindSnapshot(*at->parent_snapshot_id) : nullptr;
    }
    for (const Snapshot& snapshot : table_.snapshots) {
      if (!led_to.contains(snapshot.snapshot_id) && !IsOlder(snapshot, MaxAge(nullptr)))
        kept_.insert(snapshot.snapshot_id);
    }
  }

  const TableMetadata& table_;
  const ExpiryPolicy& policy_;
  int64_t now_;
  ExpiryPlan plan_;
  std::set<int64_t> kept_;
  std::set<std::string> tags_;  // of tokens, that stay
};

}  // namespace

ExpiryPlan PlanExpiry(const TableMetadata& table, const ExpiryPolicy& policy, int64_t now_ms) {
  return Expiry(table, policy, now_ms).Plan();
}

}  // namespace caudal::iceberg
