// SnapshotCommit: the loop that makes a snapshot upon the head of a branch, and asks for it until it is
// certain what became of it.
//
// What the snapshot has is asked of a maker at each attempt, for the very head that the attempt asserts. One
// thread; blocks, also to wait between attempts.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// What the snapshot that an attempt asks for is called, and what it is made upon.
struct SnapshotAttempt {
  const TableMetadata* table = nullptr;
  const Snapshot* head = nullptr;  // null: the branch has none
  int64_t snapshot_id = 0;
  int64_t sequence_number = 0;
  int number = 0;  // of the attempt, from 1 on
  // Files that were written for this attempt alone: they are removed if it is certainly not taken.
  std::vector<std::string>* written = nullptr;
};

struct SnapshotContents {
  std::vector<ManifestFile> manifests;  // all of the new head
  std::map<std::string, std::string> summary;
  int32_t schema_id = 0;
  std::string name;    // in that of the manifest list
  bool merges = true;  // whether some of the manifests may be joined (manifest_merge.h)
};

class SnapshotMaker {
 public:
  virtual ~SnapshotMaker() = default;
  // Whether the table shows that there is nothing left to do. `asked`: the snapshots of the attempts so far,
  // each of which may have been taken.
  virtual Result<bool> IsSettled(const TableMetadata& table, const std::set<int64_t>& asked) = 0;
  // Nothing: there is nothing to commit. External error (backoff): try again.
  virtual Result<std::optional<SnapshotContents>> Make(const SnapshotAttempt& attempt) = 0;
  // The attempts are used up; `unknown`: one of them may be taken.
  virtual Status GaveUp(int64_t attempts, bool unknown, const Status& last) const = 0;
};

struct SnapshotCommitOptions {
  std::string branch = "main";
  bool makes_branch = false;  // upon the head of 'main', if it is not there; else that is a User error
  // Attempts by the properties of the table, 'commit.retry.…'; or so many, with pauses that begin so.
  bool retries_of_table = false;
  int64_t attempts = 5;
  int64_t first_wait = 100, longest_wait = 60'000;
  std::function<void(int64_t millis)> wait;  // between attempts; nothing: no pause
  std::mutex* turn = nullptr;                // held during each attempt
};

class SnapshotCommit {
 public:
  // All must outlive it.
  SnapshotCommit(Catalog* catalog, const TableFiles& files, const TableName& name, SnapshotMaker* maker,
                 const SnapshotCommitOptions& options)
      : catalog_(catalog), files_(files), name_(name), maker_(*maker), options_(options) {}

  // OK: it is settled, or was committed as the last Make said. Each attempt asserts the head that it was made
  // for, and has an id of its own.
  Status Run();
  int attempts() const { return attempts_; }    // in which a snapshot was asked for, or was to be
  bool is_unknown() const { return unknown_; }  // of some attempt nobody knows whether it was taken

 private:
  Result<bool> InTurn();
  Result<bool> Attempt();
  Result<bool> Again(const Status& status);
  Result<std::optional<Snapshot>> Build(const TableMetadata& table, const Snapshot* head);
  Status Merge(const SnapshotAttempt& attempt, SnapshotContents* contents) const;
  void MergeIfWorthIt(const SnapshotAttempt& attempt, SnapshotContents* contents);
  Result<Snapshot> Write(const SnapshotAttempt& attempt, const SnapshotContents& contents);
  Result<bool> Ask(const TableMetadata& table, const Snapshot* head, const Snapshot& snapshot);
  void RemoveWritten(size_t from = 0);

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  SnapshotMaker& maker_;
  const SnapshotCommitOptions& options_;
  std::set<int64_t> asked_;
  std::vector<std::string> written_;  // by the last attempt
  int attempts_ = 0;
  bool unknown_ = false;
  int64_t tries_ = 0;  // also those in which no table was seen
  int64_t most_ = 0;
  int64_t wait_ = 0;
  Status last_;
};

}  // namespace caudal::iceberg
