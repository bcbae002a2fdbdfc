// StateTable: what an operator remembers, seen by the runtime: snapshot, restore, expire, count.
//
// Operators use the concrete shapes beside this file (KeyedRows, KeyGenerations, Panes); the
// runtime, alone, snapshots and restores. One thread at a time: the task's. A snapshot is taken between calls
// of the operator, segment by segment, so that no call holds the task up for long, however many rows there
// are: it encodes; writing, CRC and compression happen elsewhere on the bytes it returns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "data/message.h"

namespace caudal {

// The key groups that a task owns, [first, last].
struct KeyGroupRange {
  int first = 0;
  int last = 127;
  bool Contains(int group) const { return group >= first && group <= last; }
};

class StateTable {
 public:
  virtual ~StateTable() = default;

  // Unique within its operator; part of file names: lower case and hyphens.
  virtual std::string_view name() const = 0;
  // Describes the layout: column ids and types, format version. Equal fingerprints = restorable.
  virtual std::string Fingerprint() const = 0;

  enum class SnapshotKind {
    kDelta,  // what changed since the last snapshot
    kFull,   // everything: the runtime asks now and then, so that a restore reads few segments
  };
  // The next of a snapshot's segments, self-contained, to be restored in this order; empty: there is none,
  // the snapshot is taken. One that must be encoded has about kSegmentBytes, more only for one larger row.
  // REQUIRES: nothing changes between the first and the empty one. Not observable by the operator.
  virtual std::string NextSegment(SnapshotKind kind) = 0;
  static constexpr size_t kSegmentBytes = 1 << 20;
  // Applies segments oldest first; keeps rows of `groups` only. Data error on damage. REQUIRES: empty table.
  virtual Status Restore(const std::vector<std::string>& segments, KeyGroupRange groups) = 0;

  // Drops what neither time can reach any more, by the table's own rule. Bounded work a call.
  virtual void Expire(const Watermark& watermark) = 0;

  virtual int64_t bytes() const = 0;
  virtual int64_t rows() const = 0;
};

}  // namespace caudal
