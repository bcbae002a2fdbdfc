#include "run/restore/plan_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/restore/plan_fingerprint.h"
#include "state/checkpoint_store.h"

namespace caudal {
namespace {

// What `text` says from where it leaves `other`: fingerprints are long.
std::string FromDifference(std::string_view text, std::string_view other) {
  constexpr size_t kBefore = 20, kShown = 80;
  const auto differs = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
  const size_t at = static_cast<size_t>(differs.first - text.begin());
  const size_t from = at > kBefore ? at - kBefore : 0;
  return fmt::format("'{}{}{}'", from > 0 ? "…" : "", text.substr(from, kShown),
                     text.size() > from + kShown ? "…" : "");
}

void Warn(const PlanDiff& diff, std::vector<std::string>* warnings) {
  for (const PlanDiff::Entry& entry : diff.entries) {
    if (entry.change == PlanDiff::Change::kAdded)
      warnings->push_back("'" + entry.id + "' is new and begins empty");
    if (entry.change == PlanDiff::Change::kStateless) {
      warnings->push_back(
          fmt::format("'{}' has changed and keeps nothing: rows from here on are those of the new query; it "
                      "was {}, it is {}",
                      entry.id, FromDifference(entry.was, entry.is), FromDifference(entry.is, entry.was)));
    }
  }
}

// A sink that goes must have its last epoch: nobody else would publish it.
Status CheckDroppedSinks(FileSystem* files, const std::string& folder, const Manifest& manifest,
                         const PlanDiff& diff) {
  for (const PlanDiff::Entry& entry : diff.entries) {
    if (entry.change != PlanDiff::Change::kDropped || manifest.Find(entry.id)->committables.empty()) continue;
    ASSIGN_OR_RETURN(const bool known, IsKnownCommitted(files, folder, manifest.epoch));
    if (known) return Status();
    return Status::User(
               fmt::format(
                   "epoch {}-{} may not have reached sink '{}', which the query no longer has: the run "
                   "before did not end by itself",
                   manifest.epoch.generation, manifest.epoch.number, entry.id))
        .Hint(
            "start the query once more with that sink, which publishes the epoch, stop it with `caudal "
            "stop`, "
            "then start it without");
  }
  return Status();
}

}  // namespace

Status CheckPlan(FileSystem* files, const std::string& folder, const std::vector<NodeState>& fingerprints,
                 const std::vector<std::string>& allow_dropped, std::vector<std::string>* warnings) {
  ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests, ListManifests(files, folder));
  for (auto file = manifests.rbegin(); file != manifests.rend(); ++file) {
    if (file->closed) continue;
    const Result<Manifest> manifest = ReadManifest(files, file->path);
    if (!manifest.ok()) continue;  // the restore tells
    const PlanDiff diff = Compare(*manifest, fingerprints);
    RETURN_IF_ERROR(diff.Check(allow_dropped));
    Warn(diff, warnings);
    return CheckDroppedSinks(files, folder, *manifest, diff);
  }
  return Status();
}

}  // namespace caudal
