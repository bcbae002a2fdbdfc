// Sink: where rows go, exactly once. Three roles on three threads, tied by plain values:
//
//   SinkWriter     task thread     takes rows, seals them at a barrier (≤ 20 ms)
//   SealedEpoch    I/O thread      makes the sealed rows durable and invisible, while the next epoch flows
//   SinkCommitter  coordinator     makes an epoch visible, from the committables alone, by any process, any
//                                  number of times, with the effect of once
//
// The manifest is the one commit point: written after every Prepare and before any Commit.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/changelog.h"
#include "api/client_facts.h"
#include "base/status.h"
#include "data/message.h"

namespace caudal {

// What Commit needs and the manifest keeps.
struct Committable {
  std::string payload;     // the connector's own, JSON text
  int64_t rows_added = 0;  // the sink's own recount, from files or acknowledgements
  int64_t rows_removed = 0;
  int64_t bytes = 0;
};

class SealedEpoch {
 public:
  virtual ~SealedEpoch() = default;
  // Durable but invisible. After an error it may be called again, at a later epoch, on the same object.
  virtual Result<Committable> Prepare() = 0;
};

// Rows that the sink itself refuses (too long for the target's column …), for the dead-letter table.
class SinkRejects {
 public:
  virtual ~SinkRejects() = default;
  virtual void Reject(const Chunk& chunk, RowSet rows, std::string message) = 0;
};

class SinkWriter {
 public:
  virtual ~SinkWriter() = default;
  // Writing should wait: what is on its way to the target is as much as may be. Asked again every few
  // milliseconds; must not hold back a Seal that would mend it.
  virtual bool full() const { return false; }
  // Copies what it keeps. Never blocks on the target.
  virtual Status Write(const Chunk& chunk, SinkRejects& rejects) = 0;
  // Everything written since the last Seal; the writer goes on with the next epoch.
  virtual Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) = 0;
  // What the caller charges to the query's budget; what was sealed, until the manifest holds it.
  virtual int64_t buffered_bytes() const = 0;
};

enum class CommitOutcome {
  kCommitted,  // visible, now or before
  kRefused,    // the target says no and will go on saying so
  kUnknown,    // no answer: repeat
  kLost,       // prepared data is gone
};

struct CommitResult {
  CommitOutcome outcome = CommitOutcome::kCommitted;
  Status status;  // why, unless committed
};

class SinkCommitter {
 public:
  virtual ~SinkCommitter() = default;
  // The newest epoch that the target knows to be committed, if the target can say; {0, 0} otherwise.
  virtual Result<Epoch> LastCommitted() = 0;
  // Where the target has noted, together with the rows, that these were committed, an epoch without rows too;
  // empty: nowhere. A target that knows less than such an epoch is another one, or an older copy.
  virtual std::string ledger(std::span<const Committable> committables) const { return {}; }
  virtual CommitResult Commit(Epoch epoch, std::span<const Committable> committables) = 0;
  // After a restore: removes what no manifest names (half-written files of the crashed run).
  virtual Status RemoveLeftovers() { return Status(); }
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual ChangelogKinds accepts() const = 0;
  virtual std::string_view guarantee() const = 0;  // "exactly once", "at least once", as EXPLAIN prints it
  // Whether the target, as it is now, would take rows; changes nothing there. A target that cannot be reached
  // is none of its business.
  virtual Status CheckTarget() const { return Status(); }
  // One a task.
  virtual Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) = 0;
  virtual Result<std::unique_ptr<SinkCommitter>> MakeCommitter() = 0;
  // Any thread, at any time; the same names every time.
  virtual ClientFacts client() const { return {}; }
};

}  // namespace caudal
