// Manifest: everything a query needs to go on exactly after one epoch; the one commit point.
//
// Plain data. Made by the coordinator, stored by CheckpointStore under a name that no other process can take,
// never changed after. Encode and Decode are the durable format, docs/formats/manifest.md; Decode takes any
// bytes (fuzzed) and answers a Data error that says what is damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/message.h"

namespace caudal {

// 2 added tasks, state_rows and state_bytes to each node.
inline constexpr uint32_t kManifestVersion = 2;

// Where a split goes on: position (which names its origin) and clock.
struct SplitState {
  std::string id;
  int32_t ordinal = 0;
  std::string position;
  int64_t clock = Watermark::kNone;
  bool finished = false;
  // For those who watch this process; not stored: records passed since it opened the split, and when the last
  // of them arrived. -1 = none.
  int64_t records = -1;
  int64_t arrival_millis = -1;
  bool operator==(const SplitState&) const = default;
};

// One table's records of one epoch inside a segment file.
struct SegmentRef {
  std::string table;
  std::string file;  // name within the checkpoint's folder
  int64_t offset = 0;
  int64_t length = 0;
  uint32_t crc = 0;
  bool operator==(const SegmentRef&) const = default;
};

struct TableFingerprint {
  std::string table;
  std::string fingerprint;
  bool operator==(const TableFingerprint&) const = default;
};

struct CountedFate {
  std::string fate;
  std::string name;
  int64_t rows = 0;
  bool operator==(const CountedFate&) const = default;
};

// What a sink needs to make the manifest's epoch visible, and its own recount.
struct StoredCommittable {
  std::string payload;
  int64_t rows_added = 0;
  int64_t rows_removed = 0;
  int64_t bytes = 0;
  bool operator==(const StoredCommittable&) const = default;
};

// One plan node, all its tasks together.
struct NodeState {
  std::string id;
  std::string label;
  std::string fingerprint;               // of what it computes; empty for nodes without state
  std::string former_fingerprint;        // of a plan: the same in the format of before; not stored
  std::vector<TableFingerprint> tables;  // of what it remembers
  std::vector<SegmentRef> segments;      // oldest first
  Watermark watermark;                   // the last one sent
  std::vector<int64_t> rows_in;          // by input, since the query began
  int64_t rows_out = 0;
  std::vector<CountedFate> fates;
  std::vector<SplitState> splits;               // sources
  std::string enumerator;                       // sources
  std::vector<StoredCommittable> committables;  // sinks
  int32_t tasks = 0;                            // that ran it; 0 = not recorded (format 1)
  int64_t state_rows = -1;                      // in its tables; -1 = not recorded (format 1)
  int64_t state_bytes = -1;                     // of memory
  bool operator==(const NodeState&) const = default;
};

struct Manifest {
  std::string identity;  // of the checkpoint folder: a manifest from elsewhere is refused
  std::string query;
  Epoch epoch;
  Epoch previous;                // the manifest that this one follows; {0, 0} = none
  int64_t created_micros = 0;    // wall clock
  int64_t processing = 0;        // Env's clock, as operators saw it
  bool final = false;            // the end of the input has gone through: all windows are closed
  bool drained = false;          // final because it was told to end, not because there was no more to read
  std::vector<NodeState> nodes;  // in plan order
  bool operator==(const Manifest&) const = default;

  const NodeState* Find(std::string_view node) const {
    for (const NodeState& state : nodes) {
      if (state.id == node) return &state;
    }
    return nullptr;
  }
};

std::string EncodeManifest(const Manifest& manifest);
Result<Manifest> DecodeManifest(std::string_view bytes);

}  // namespace caudal
