// CheckpointStore: the folder of one query's checkpoints: identity, generations, manifests, segments.
//
//   identity                       made once; names the query and the folder
//   generation-<g>                 made by create-if-absent at each start: the highest owns the query
//   start-<g>                      made when generation g has closed all older ones: its first epoch's number
//   manifest-<g>-<n>               made by create-if-absent: epoch n of generation g
//   committed-<g>-<n>              made at the end of a run: every target has epoch n of generation g
//   segment-<g>-<n>[-<file>]       state records that manifests refer to, in one file or several
//   sinks/<sink>/                  for sinks that keep an epoch's rows until Commit
//
// A new generation closes the one before it: it takes the manifest name that the old writer would need next,
// so that a zombie cannot commit another epoch. Such names stay for kKeptGenerations starts. One store for a
// job; its calls block: I/O threads only, one at a time, but for Retain, which may run beside any other.
// Page: docs/formats/manifest.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "fs/file_system.h"
#include "state/manifest.h"

namespace caudal {

// A manifest with the bytes of its segments, checked.
struct RestoredCheckpoint {
  Manifest manifest;
  std::vector<std::vector<std::string>> segments;  // by node, as in manifest.nodes[i].segments
  std::vector<std::string> warnings;               // newer manifests that were passed over: damaged or gone
};

struct ManifestFile;

class CheckpointStore {
 public:
  static constexpr int64_t kKeptGenerations = 64;

  // Opens or makes the folder and takes the next generation, `least_generation` or later. User error if the
  // folder belongs to another query.
  static Result<std::unique_ptr<CheckpointStore>> Open(Env* env, FileSystem* files, std::string folder,
                                                       std::string query, int64_t least_generation = 1);

  const std::string& folder() const { return folder_; }
  const std::string& identity() const { return identity_; }
  int64_t generation() const { return generation_; }

  // The newest manifest that is whole, with its segments; none if the query never committed. Closes all older
  // generations and removes what their crashes left half-made. Once. Data error when there are manifests and
  // none is whole.
  Result<std::optional<RestoredCheckpoint>> Restore();

  // Writes one durable segment file, the epoch's `file`-th, with the records of several tables one after the
  // other; fills all but `table` of `refs`, one for each. A number is used once, also when it failed: what
  // was sent to a store may arrive late.
  Status WriteSegment(int64_t number, int file, const std::vector<std::string_view>& records,
                      const std::vector<SegmentRef*>& refs);
  // The epoch that wrote a segment file of that name; none if it is no such name.
  static std::optional<Epoch> EpochOfSegment(std::string_view name);

  // Makes the manifest of `manifest.epoch`. User error when a newer generation owns the query.
  Status CreateManifest(const Manifest& manifest);
  // Epoch `number` is given up: its manifest's name must be taken before a later one may be made.
  void Abandon(int64_t number) { abandoned_.push_back(number); }

  // Every target has the epoch, which is the last of this run: a plan without one of them may go on from it.
  Status NoteCommitted(const Epoch& epoch);

  // Keeps the newest `keep` manifests and what they refer to; removes older ones.
  Status Retain(int keep);

 private:
  CheckpointStore(Env* env, FileSystem* files, std::string folder, std::string query)
      : env_(env), files_(files), folder_(std::move(folder)), query_(std::move(query)) {}

  Status ClaimIdentity();
  Status ClaimGeneration(int64_t least);
  Status CheckNotFenced();
  Status CloseOlderGenerations();
  Status CloseAbandoned();
  // Names of generations that are closed and long over: without an end a folder of many starts would fill up.
  Status RemoveOldGenerations();
  // Hidden files that a crash left half-made.
  Status RemoveLeftovers();
  // Segments of epochs behind `newest`, the last manifest: their starts were killed before another.
  Status RemoveUnclaimedSegments(const Epoch& newest);
  // Of manifests that were committed after `newest` and are gone.
  Status WarnOfMissing(const std::vector<ManifestFile>& manifests, const Epoch& newest,
                       std::vector<std::string>* warnings) const;
  Status BeginAt(int64_t number);
  Result<RestoredCheckpoint> Load(const Epoch& epoch);

  Env* env_;
  FileSystem* files_;
  std::string folder_;
  std::string query_;
  std::string identity_;
  int64_t generation_ = 0;
  std::vector<int64_t> abandoned_;
};

// For `caudal checkpoint ls|verify|show`, which open nothing and take no generation.
struct ManifestFile {
  Epoch epoch;
  std::string path;
  int64_t bytes = 0;
  bool closed = false;  // a name taken by a newer generation or given up: no epoch
};
// Oldest first.
Result<std::vector<ManifestFile>> ListManifests(FileSystem* files, const std::string& folder);
Result<Manifest> ReadManifest(FileSystem* files, const std::string& path);
// Whether every target is known to have the epoch. After a crash that is not known.
Result<bool> IsKnownCommitted(FileSystem* files, const std::string& folder, const Epoch& epoch);
// What the folder's `identity` says of itself; Data error if that is damaged.
struct CheckpointIdentity {
  std::string id;
  std::string query;
};
Result<CheckpointIdentity> ReadIdentity(FileSystem* files, const std::string& folder);
// That the manifest is of this folder and holds the epoch that its name says.
Status CheckManifest(const Manifest& manifest, const Epoch& epoch, const std::string& identity);
// Reads and checks every segment that the manifest names.
Status VerifySegments(FileSystem* files, const std::string& folder, const Manifest& manifest);

}  // namespace caudal
