// What a start does with the checkpoint: claims a generation, repeats the last commit, restores.
#include <fmt/format.h>

#include <algorithm>

#include "base/fault_point.h"
#include "base/planted_fault.h"
#include "data/text/time_text.h"
#include "run/epoch/sink_path.h"
#include "run/job.h"

namespace caudal {
namespace {

std::vector<Committable> CommittablesOf(const NodeState& sink) {
  std::vector<Committable> committables;
  for (const StoredCommittable& one : sink.committables) {
    committables.push_back({one.payload, one.rows_added, one.rows_removed, one.bytes});
  }
  return committables;
}

}  // namespace

// Claims a generation that no target has seen, so that none takes our epochs for older ones.
Status Job::OpenStore() {
  if (folder_.empty()) {
    identity_ = fmt::format("{:016x}{:016x}", options_.env->Random(), options_.env->Random());
    return MakeEndpoints();
  }
  int64_t least = 0;
  for (;;) {
    ASSIGN_OR_RETURN(store_, CheckpointStore::Open(options_.env, options_.files, folder_, query_, least));
    generation_ = store_->generation();
    identity_ = store_->identity();
    RETURN_IF_ERROR(MakeEndpoints());
    least = 0;
    for (NamedSink& sink : sink_ids_) {
      Result<Epoch> last = sinks_->committer(sink.node)->LastCommitted();
      if (!last.ok()) return last.status().At("sink '" + sink.id + "'");
      if (last->generation >= generation_) least = std::max(least, last->generation + 1);
      sink.last_committed = *last;
    }
    if (least == 0) break;
  }
  ASSIGN_OR_RETURN(restored_, store_->Restore());
  if (!restored_) return Status();
  warnings_.insert(warnings_.end(), restored_->warnings.begin(), restored_->warnings.end());
  return Status();
}

// After the state, which belongs to the nodes that the checkpoint has.
void Job::CarryOnCounts(Manifest* manifest) {
  bool same = manifest->nodes.size() == fingerprints_.size();
  for (const NodeState& node : fingerprints_) same = same && manifest->Find(node.id) != nullptr;
  if (same) return;
  std::vector<NodeState> nodes;
  std::vector<bool> is_new;
  for (const NodeState& node : fingerprints_) {
    const NodeState* stored = manifest->Find(node.id);
    is_new.push_back(stored == nullptr);
    nodes.push_back(stored != nullptr ? *stored : node);
  }
  if (CarryCounts(plan_, is_new, &nodes)) {
    manifest->nodes = std::move(nodes);
    return;
  }
  for (NodeState& node : manifest->nodes) {
    node.rows_in.clear();
    node.rows_out = 0;
    node.fates.clear();
  }
  warnings_.push_back("the way to a sink has other operators than before, so the counts of rows begin anew");
}

// The manifest's epoch may not have reached every target; and nothing newer may have.
Status Job::RepeatCommit() {
  if (folder_.empty()) return Status();
  const Epoch whole = restored_ ? restored_->manifest.epoch : Epoch();
  for (const auto& [node, id, last] : sink_ids_) {
    if (last <= whole) continue;
    Status refused = Status::User(fmt::format(
        "sink '{}' has already committed epoch {}-{}, and {}", id, last.generation, last.number,
        restored_ ? fmt::format("the newest whole checkpoint is {}-{}", whole.generation, whole.number)
                  : std::string("there is no checkpoint any more")));
    if (restored_) {
      for (const std::string& damage : restored_->warnings) refused = std::move(refused).At(damage);
    }
    return std::move(refused).Hint(
        "restoring it would write rows twice: bring the newer checkpoint back, or rebuild into empty targets "
        "under another --state folder");
  }
  if (!restored_) return RemoveLeftovers();
  RETURN_IF_ERROR(CheckLedgers());
  FAULT_POINT(restore_commit);
  if (!PLANTED_FAULT(commit_not_repeated)) {
    PendingCommit commit = sinks_->Take(restored_->manifest);
    RETURN_IF_ERROR(SinkEpochs::Commit(&commit));
  }
  RETURN_IF_ERROR(RemoveLeftovers());
  return RemoveOldEpochs();
}

Status Job::CheckLedgers() const {
  const Epoch former = restored_->manifest.previous;
  ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests, ListManifests(options_.files, folder_));
  const auto is_former = [&](const ManifestFile& file) { return file.epoch == former && !file.closed; };
  const auto file = std::find_if(manifests.begin(), manifests.end(), is_former);
  if (file == manifests.end()) return Status();
  const Result<Manifest> manifest = ReadManifest(options_.files, file->path);
  if (!manifest.ok()) return Status();  // nothing to compare with
  for (const auto& [node, id, last] : sink_ids_) {
    const NodeState* state = manifest->Find(id);
    if (state == nullptr || last >= former) continue;
    const std::string ledger = sinks_->committer(node)->ledger(CommittablesOf(*state));
    if (ledger.empty()) continue;
    const std::string known =
        last == Epoch() ? "no epoch" : fmt::format("epoch {}-{} as the last", last.generation, last.number);
    return Status::User(fmt::format("the target of sink '{}' knows {} of this query, and its epoch {}-{} was "
                                    "committed: it is another target, or an older copy of it, or its ledger "
                                    "was emptied ({})",
                                    id, known, former.generation, former.number, ledger))
        .Hint(
            "going on would leave rows out there, or write them twice: bring the former target back (a "
            "relative "
            "path counts from the folder that caudal runs in), or rebuild into empty targets under another "
            "--state folder");
  }
  return Status();
}

// Short runs end before it is their turn to. All commits of the newest have just been repeated; what a
// damaged one makes necessary is kept.
Status Job::RemoveOldEpochs() {
  if (!restored_->warnings.empty()) return Status();
  const Status status = store_->Retain(settings_.epochs.keep);
  if (Faults::IsInjectedCrash(status)) return status;
  if (!status.ok()) warnings_.push_back("old epochs stay a little longer: " + status.message());
  return Status();
}

// What has gone through to its end has nothing to go on with: new rows would be late for closed windows.
Status Job::CheckEnded() {
  if (!restored_ || !restored_->manifest.final) return Status();
  const Manifest& manifest = restored_->manifest;
  // Manifests of before do not tell a drain; but nothing else ends what has no end.
  const bool drained =
      manifest.drained || std::any_of(endpoints_.begin(), endpoints_.end(), [](const auto& one) {
        return one.source != nullptr && !one.source->bounded();
      });
  char time[kTimestampTextSize];
  const std::string epoch =
      fmt::format("(epoch {}-{} of {})", manifest.epoch.generation, manifest.epoch.number,
                  std::string_view(time, FormatTimestamp(manifest.created_micros, 3, time)));
  if (drained && options_.refuse_drained) {
    return Status::User(
               fmt::format("query '{}' was drained by an earlier run {}: its windows are closed, rows "
                           "from here on would be late for them",
                           query_, epoch))
        .Hint(
            "begin anew, from the first row and with empty targets, under another --state folder or SET "
            "'pipeline.name'; end a run that is to go on without --drain");
  }
  ended_before_ = true;
  warnings_.push_back(fmt::format("its input {} in an earlier run {}; nothing to do",
                                  drained ? "was drained" : "ended", epoch));
  return Status();
}

Status Job::RemoveLeftovers() {
  for (const auto& [node, id, last] : sink_ids_) {
    Status status = sinks_->committer(node)->RemoveLeftovers();
    if (!status.ok()) return std::move(status).At("sink '" + id + "'");
  }
  return Status();
}

Status Job::FindSplits() {
  for (const std::unique_ptr<SplitDiscovery>& discovery : discoveries_) {
    const std::string& id = fingerprints_[static_cast<size_t>(discovery->node())].id;
    const NodeState* state = restored_ ? restored_->manifest.Find(id) : nullptr;
    if (state != nullptr) {
      Status status = discovery->Restore(*state);
      if (!status.ok()) return std::move(status).At("source '" + id + "'");
    }
    Result<SplitDiscovery::Found> found = discovery->Look();
    if (!found.ok()) return found.status().At("source '" + id + "'");
    discovery->Take(std::move(*found));
    endpoints_[static_cast<size_t>(discovery->node())].splits = static_cast<int>(discovery->known().size());
  }
  return Status();
}

Status Job::RestoreState() {
  if (!restored_ || ended_before_) return Status();
  FAULT_POINT(restore_state);
  const Manifest& manifest = restored_->manifest;
  for (int node = 0; node < graph_->node_count(); ++node) {
    const std::string& id = fingerprints_[static_cast<size_t>(node)].id;
    for (size_t i = 0; i < manifest.nodes.size(); ++i) {
      const NodeState& state = manifest.nodes[i];
      if (state.id != id) continue;
      const bool is_operator =
          static_cast<size_t>(node) < plan_.nodes.size() && !graph_->operators(node).empty();
      if (is_operator) {
        segments_->Restore(node, state.segments);
        for (OperatorNode* op : graph_->operators(node)) {
          RETURN_IF_ERROR(op->RestoreState(state, restored_->segments[i]));
        }
      } else {
        for (TaskNode* each : graph_->nodes(node)) each->Restore(state);
      }
    }
  }
  return Status();
}

}  // namespace caudal
