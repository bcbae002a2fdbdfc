#include "connect/iceberg/sink/iceberg_committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "connect/iceberg/sink/leftover_files.h"
#include "connect/iceberg/upsert/epoch_keys.h"
#include "iceberg/commit/branch_history.h"
#include "iceberg/commit/token_tag.h"

namespace caudal {
namespace {

// Of a summary, which every later metadata file repeats.
constexpr size_t kMostPositions = 16 * 1024;
// Told of the time before a start: more than can have been acknowledged since they were noted last.
constexpr size_t kMostOfBefore = 128;

// {source: {split: position}}, a position as the JSON that it mostly is.
std::string PositionsText(const std::vector<SourcePosition>& positions) {
  using Json = nlohmann::json;
  Json json = Json::object();
  for (const SourcePosition& one : positions) {
    Json position = Json::parse(one.position, nullptr, false);
    if (position.is_discarded()) position = one.position;
    json[one.source][one.split] = std::move(position);
  }
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kMostPositions ? text : "";
}

}  // namespace

Result<IcebergLake*> IcebergCommitter::Lake() {
  if (lake_ == nullptr) {
    ASSIGN_OR_RETURN(lake_, IcebergLake::Open(plan_->options, plan_->files, plan_->env));
  }
  return lake_.get();
}

Result<Epoch> IcebergCommitter::LastCommitted() {
  if (plan_->ephemeral) return Epoch();
  ASSIGN_OR_RETURN(IcebergLake * lake, Lake());
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
  NoteHistory(table.metadata);
  const iceberg::TokenFinding finding = iceberg::FindToken(table.metadata, plan_->branch, plan_->Token({}));
  const Epoch newest = finding.newest ? Epoch{finding.newest->generation, finding.newest->epoch} : Epoch();
  Status there = branch_.Check(table.metadata, plan_->branch, newest, may_lag());
  if (!there.ok()) return std::move(there).At(plan_->options.frame());
  return newest;
}

Status IcebergCommitter::CheckBranch(IcebergLake* lake) {
  if (plan_->branch == "main" || plan_->ephemeral) return Status();
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
  const iceberg::TokenFinding finding = iceberg::FindToken(table.metadata, plan_->branch, plan_->Token({}));
  return branch_.Check(table.metadata, plan_->branch,
                       finding.newest ? Epoch{finding.newest->generation, finding.newest->epoch} : Epoch(),
                       may_lag());
}

void IcebergCommitter::NoteHistory(const iceberg::TableMetadata& table) {
  commits_.clear();
  std::set<int64_t> seen;
  const iceberg::Snapshot* at = iceberg::HeadOf(table, plan_->branch);
  while (at != nullptr && commits_.size() < kMostOfBefore && seen.insert(at->snapshot_id).second) {
    const auto token = iceberg::TokenOf(*at);
    if (token && token->pipeline == plan_->pipeline) {
      SinkCommit& commit = commits_.emplace_back();
      commit.table = plan_->table_name();
      commit.branch = plan_->branch;
      commit.epoch = {token->generation, token->epoch};
      commit.snapshot_id = at->snapshot_id;
      commit.sequence_number = at->sequence_number;
      commit.published_millis = at->timestamp_ms;
      commit.exact = false;
    }
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  }
  std::reverse(commits_.begin(), commits_.end());
}

void IcebergCommitter::NoteCommit(const iceberg::PipelineToken& token, const iceberg::AppendOutcome& outcome,
                                  int64_t began) {
  // What an earlier process did is told by the history, and what changed nothing made no snapshot.
  if (outcome.result != iceberg::AppendResult::kCommitted || outcome.snapshot_id == 0) return;
  SinkCommit& commit = commits_.emplace_back();
  commit.table = plan_->table_name();
  commit.branch = plan_->branch;
  commit.epoch = {token.generation, token.epoch};
  commit.snapshot_id = outcome.snapshot_id;
  commit.sequence_number = outcome.sequence_number;
  commit.published_millis = plan_->env->NowMillis();
  commit.commit_millis = std::max<int64_t>(0, commit.published_millis - began);
}

void IcebergCommitter::NotePositions(const std::vector<SourcePosition>& positions) {
  positions_ = PositionsText(positions);
}

CommitResult IcebergCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = CommitEpoch(epoch, committables, &lost);
  if (status.ok() && keys_ != nullptr) keys_->NoteCommitted(epoch);
  if (status.ok()) return {};
  lake_.reset();  // the next call starts from a fresh connection
  const CommitOutcome outcome = lost                                   ? CommitOutcome::kLost
                                : status.domain() == Domain::kExternal ? CommitOutcome::kUnknown
                                                                       : CommitOutcome::kRefused;
  return {outcome, std::move(status).At(plan_->options.frame())};
}

Status IcebergCommitter::CommitEpoch(Epoch epoch, std::span<const Committable> committables, bool* lost) {
  std::vector<IcebergCommittable> parts;
  std::vector<iceberg::PreparedAppend> appends;
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(IcebergCommittable part, IcebergCommittable::Parse(committable.payload));
    if (part.append.manifests.empty() && !part.keys) continue;
    appends.push_back(part.append);
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return Status();  // no rows, no snapshot
  ASSIGN_OR_RETURN(IcebergLake * lake, Lake());
  iceberg::PipelineToken token = plan_->Token(epoch);
  token.positions = positions_;
  ASSIGN_OR_RETURN(const bool settled, settled_.Has(epoch));
  if (settled) return Status();
  RETURN_IF_ERROR(CheckBranch(lake));
  Status whole = CheckFiles(parts);
  if (whole.ok()) whole = CheckKey(parts);
  if (!whole.ok()) {
    // Once they are committed they belong to the table, which may have rewritten them.
    ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
    const auto found = iceberg::FindToken(table.metadata, plan_->branch, token).search;
    if (found != iceberg::TokenSearch::kAbsent) return Status();
    *lost = whole.domain() == Domain::kData;
    return whole;
  }
  iceberg::AppendOptions options;
  options.branch = plan_->branch;
  if (plan_->ephemeral) options.summary[iceberg::kOnceKey] = "true";
  options.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); };
  if (keys_ != nullptr) return CommitKeys(lake, parts, token, options);
  const int64_t began = plan_->env->NowMillis();
  ASSIGN_OR_RETURN(const iceberg::AppendOutcome outcome,
                   iceberg::CommitAppend(&lake->catalog(), lake->files(), plan_->options.name,
                                         iceberg::JoinAppends(appends), token, options));
  NoteCommit(token, outcome, began);
  return plan_->ephemeral ? Status() : branch_.Note(plan_->branch, epoch, outcome.sequence_number);
}

Status IcebergCommitter::CommitKeys(IcebergLake* lake, const std::vector<IcebergCommittable>& parts,
                                    const iceberg::PipelineToken& token,
                                    const iceberg::AppendOptions& options) {
  std::vector<iceberg::PreparedAppend> appends;
  for (const IcebergCommittable& part : parts) appends.push_back(part.append);
  ASSIGN_OR_RETURN(const auto epoch, EpochKeys::Make(plan_, keys_, parts));
  const int64_t began = plan_->env->NowMillis();
  ASSIGN_OR_RETURN(
      const iceberg::AppendOutcome outcome,
      iceberg::CommitRowDelta(&lake->catalog(), lake->files(), plan_->options.name,
                              iceberg::JoinAppends(appends), epoch.get(), &known_, token, options));
  NoteCommit(token, outcome, began);
  // What another process left out of the epoch, since its keys were there, nobody knows but the table.
  const bool upserts = plan_->options.unique == IcebergUnique::kUpsert;
  const bool ours = outcome.result == iceberg::AppendResult::kCommitted && !epoch->left_out();
  if (outcome.snapshot_id != 0 && (ours || (upserts && outcome.result == iceberg::AppendResult::kFound))) {
    const auto entries = epoch->entries();
    keys_->Note(outcome.parent_id, {outcome.snapshot_id, outcome.sequence_number}, entries.get(),
                epoch->most(), epoch->data_files());
  }
  if (!upserts) RETURN_IF_ERROR(BringKeysAlong(lake));
  // An epoch that changed nothing left no token by which a repeated commit would know it.
  const Epoch committed{token.generation, token.epoch};
  if (outcome.snapshot_id == 0) RETURN_IF_ERROR(settled_.Note(committed));
  const bool left_token = outcome.snapshot_id != 0 && !plan_->ephemeral;
  if (left_token) RETURN_IF_ERROR(branch_.Note(plan_->branch, committed, outcome.sequence_number));
  // Nobody asks for them again, and what stays is a leftover.
  for (const IcebergCommittable& part : parts) {
    if (part.keys) (void)plan_->state_files->Remove(part.keys->path).ok();
  }
  return Status();
}

// Tasks forget what they handed over, so that the index must have it.
Status IcebergCommitter::BringKeysAlong(IcebergLake* lake) {
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
  return keys_->Advance(table.metadata, iceberg::HeadOf(table.metadata, plan_->branch));
}

Status IcebergCommitter::CheckKey(const std::vector<IcebergCommittable>& parts) const {
  const std::string declared = plan_->key_identity();
  for (const IcebergCommittable& part : parts) {
    const std::string& prepared = part.key_identity.empty() && part.keys ? declared : part.key_identity;
    if (prepared == declared && part.keys.has_value() == (keys_ != nullptr)) continue;
    const auto name = [](const std::string& key) {
      return key.empty() ? std::string("no PRIMARY KEY") : fmt::format("the PRIMARY KEY ({})", key);
    };
    return Status::User(
               fmt::format("an epoch that is not yet committed was prepared for {}, and the table is "
                           "declared with {} now (field ids and types)",
                           name(prepared), name(declared)))
        .Hint(
            "run the query as it was until it has committed, and change the key then, or start under another "
            "--state folder");
  }
  return Status();
}

Status IcebergCommitter::CheckFiles(const std::vector<IcebergCommittable>& parts) const {
  const auto check = [](FileSystem* files, const std::string& location, int64_t bytes) -> Status {
    ASSIGN_OR_RETURN(const std::string path, iceberg::PathOf(location));
    ASSIGN_OR_RETURN(const bool there, files->Exists(path));
    if (!there) {
      return Status::Data(fmt::format("'{}', which was prepared for the table, is gone", location))
          .Hint("someone removed it before it was committed");
    }
    ASSIGN_OR_RETURN(const FileInfo file, files->Stat(path));
    if (file.size == bytes) return Status();
    return Status::Data(fmt::format("'{}' has {} bytes, and {} were prepared", location, file.size, bytes))
        .Hint("someone replaced it");
  };
  for (const IcebergCommittable& part : parts) {
    for (const auto& file : part.files) RETURN_IF_ERROR(check(plan_->files, file.location, file.bytes));
    for (const auto& manifest : part.append.manifests)
      RETURN_IF_ERROR(check(plan_->files, manifest.manifest_path, manifest.manifest_length));
    if (part.keys) RETURN_IF_ERROR(check(plan_->state_files, part.keys->path, part.keys->bytes));
  }
  return Status();
}

Status IcebergCommitter::RemoveLeftovers() {
  ASSIGN_OR_RETURN(IcebergLake * lake, Lake());
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
  if (keys_ != nullptr) {
    ASSIGN_OR_RETURN(const std::vector<FileInfo> found, plan_->state_files->List(plan_->scratch));
    for (const FileInfo& file : found) {
      if (file.path.ends_with(".places")) RETURN_IF_ERROR(plan_->state_files->Remove(file.path));
    }
  }
  return LeftoverFiles(plan_, &lake->files(), &table.metadata).Remove();
}

}  // namespace caudal
