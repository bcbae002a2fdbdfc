// KeyIndex: where the row of each key of a table is: key → (data file, position), at one snapshot.
//
// A few sorted runs on disk (index_run.h), the newest first to be asked. It is a cache of what the table
// says: it is made anew when it is missing, damaged or of another table, and whoever owns it says which
// snapshot it stands at. Find may be called from any thread, at any time; it sees the index before or after a
// change. Merge may run on a thread of its own beside Find, Add and Seal; all others: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/index/entry_merge.h"
#include "iceberg/index/index_run.h"

namespace caudal::iceberg {

class KeyIndex {
 public:
  // Which state of a table it says. The sequence number tells an older state from another one.
  struct Stamp {
    int64_t snapshot_id = 0;
    int64_t sequence_number = 0;
    bool operator==(const Stamp&) const = default;
  };

  // What lies in `folder`, which is made; empty if that is of another `identity` (the table and its key's
  // columns) or damaged. `files` outlives it.
  static Result<std::unique_ptr<KeyIndex>> Open(FileSystem* files, std::string folder, std::string identity);

  std::optional<Stamp> stamp() const;  // nothing: it holds nothing that may be asked for
  int64_t runs() const;
  int64_t memory() const;  // that the runs take

  // Calls `found` for each of the keys that has a row, by its number in `keys`. REQUIRES: ascending. Data
  // error if what it reads is damaged, or a Merge has lost the runs.
  using Found = std::function<void(size_t number, const std::string& data_file, uint32_t position)>;
  Status Find(std::span<const KeyHash> keys, const Found& found) const;

  // Forgets everything; what follows are Adds and a Seal. REQUIRES: no Merge is running.
  Status Clear();
  // Entries that hide those before them. REQUIRES: ascending, each key once; files are numbers in
  // `data_files`. Durable, and asked by nobody until Seal.
  Status Add(std::span<const IndexEntry> entries, const std::vector<std::string>& data_files);
  Status Add(EntrySource* entries, int64_t most,
             const std::vector<std::string>& data_files);  // `most`: how many
  // Forgets what was added and is not yet sealed.
  void Discard();
  // All that was added counts from here on, at this snapshot. Data error if a Merge has lost the runs.
  Status Seal(const Stamp& stamp);
  // Whether there are more runs than there should be.
  bool wants_merge() const;
  // Makes one run of the newest ones, as many as are worth it. Nothing changes if it fails, but that the
  // index has no stamp any more if what was just written cannot be read.
  Status Merge();

 private:
  using Runs = std::vector<std::unique_ptr<const IndexRun>>;  // the oldest first
  KeyIndex(FileSystem* files, std::string folder, std::string identity)
      : files_(files), folder_(std::move(folder)), identity_(std::move(identity)) {}
  Status Load();
  Status Store(const std::vector<std::string>& runs, const Stamp& stamp);
  Status Lost() const;
  std::vector<std::string> Paths(size_t first, size_t last) const;
  std::string NextPath();
  void RemoveRun(const std::string& path);
  // A run that was just written; takes it away if it cannot be read.
  Result<std::unique_ptr<const IndexRun>> OpenWritten(const std::string& path);
  Status RemoveStrangers();
  // How many of the newest runs are to become one; 0: none.
  size_t ToMerge() const;
  Status WriteMerged(const std::vector<const IndexRun*>& runs, bool drop_gone, const std::string& path);
  Status Replace(size_t first, size_t count, const std::string& path);

  FileSystem* files_;
  std::string folder_, identity_;
  Runs added_;  // not yet sealed
  mutable std::shared_mutex mutex_;
  int64_t next_ = 1;  // number of a run; guarded by mutex_, as the next three
  Runs runs_;
  bool lost_ = false;  // a merged run could not be read: until Clear nothing is found or sealed
  std::optional<Stamp> stamp_;
};

}  // namespace caudal::iceberg
