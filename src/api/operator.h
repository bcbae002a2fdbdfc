// Operator: turns messages into messages. One object a plan node and task, one thread at a time.
//
// No lock, no timer, no barrier, no checkpoint code: all it remembers is in StateTables, which the runtime
// snapshots and restores between calls. A call that finds `out` full, or has run for about 10 ms, stops with
// kMore and gets Resume before any other message. Rows may be held back until OnFlush, which comes before
// each Watermark and Barrier; after that of a Barrier all memory is in the tables.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/fate.h"
#include "api/lookup.h"
#include "api/table.h"
#include "base/env.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "data/message.h"
#include "expr/evaluator.h"
#include "state/state_table.h"

namespace caudal {

// Why rows leave the plan early.
struct Rejection {
  Fate fate = Fate::kLate;               // kLate or kDead
  std::string_view name;                 // the fate's name: "watermark", "expression"
  std::vector<std::string> messages;     // one a row, or one for all
  std::vector<std::string> places = {};  // in the SQL, one a row and "" where unknown; empty: none is known
};

// What an operator may hand on: two doors. Emitted chunks are immutable; counting is the runtime's.
class Output {
 public:
  virtual ~Output() = default;
  virtual void Emit(Chunk chunk) = 0;
  // Rows of the operator's *input* schema that it refuses. To the dead-letter table, or only counted.
  virtual void Reject(const Chunk& chunk, Rejection rejection) = 0;
  // Whether the operator should stop with kMore soon.
  virtual bool full() const = 0;
};

enum class Progress {
  kDone,  // ready for the next message
  kMore,  // call Resume before anything else
};

// The message that OnFlush comes before.
enum class FlushBefore : uint8_t { kWatermark, kBarrier };

struct OperatorContext {
  Env* env = nullptr;
  MemoryBudget* budget = nullptr;
  KeyGroupRange groups;
  EvaluatorOptions evaluator;
  FateCounters* fates = nullptr;  // for kFiltered, kDuplicate, kAbsorbed; Reject counts for itself
  bool mini_batch = false;
  // Opens a table for lookups; null where operators are made but never run.
  std::function<Result<std::unique_ptr<LookupReader>>(const Table& table, const LookupRequest& request)>
      make_lookup;
  // Runs a job that may block, on a thread for such, and looks at resume_at() again when it has ended. The
  // operator outlives its jobs.
  std::function<void(std::function<void()> job)> submit;
};

class Operator {
 public:
  virtual ~Operator() = default;

  // Makes the tables. Once, before any message; the runtime then restores state().
  virtual Status Open(const OperatorContext& context) = 0;
  // The watermark that the operator had when its state was saved. Emits nothing. Before the first message.
  virtual Status OnRestore(const Watermark& watermark) { return Status(); }

  virtual Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) = 0;
  // All inputs have reached `watermark`: emit what is due and drop what is past. The runtime passes the
  // watermark on once this, and every Resume, is done. A row made here carries the last watermark that was
  // *sent*.
  virtual Result<Progress> OnWatermark(const Watermark& watermark, Output& out) { return Progress::kDone; }
  // Goes on with the call that returned kMore.
  virtual Result<Progress> Resume(Output& out) { return Progress::kDone; }
  virtual Result<Progress> OnFlush(FlushBefore next, Output& out) { return Progress::kDone; }
  // After kMore: Env::SteadyNanos before which Resume is not called; INT64_MAX: until a submitted job ends.
  virtual int64_t resume_at() const { return 0; }
  // What the call under way waits out: somebody outside who does not answer. OK: nothing.
  virtual Status trouble() const { return Status(); }

  // The tables, in a fixed order; they live as long as the operator.
  virtual std::vector<StateTable*> state() { return {}; }
  // Whether rows that are neither counted as a fate nor rejected are passed on one to one (Calc,
  // Deduplicate): the runtime then checks in = out + fates, else in = fates.
  virtual bool passes_rows() const = 0;
};

}  // namespace caudal
