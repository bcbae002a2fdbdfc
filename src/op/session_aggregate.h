// SessionAggregate: GROUP BY a session: rows of a key that follow each other within a gap. A session ends a
// gap behind its last row, and is fired, once, when the watermark (or kEnd) has passed its end; those that
// end together in the order of their keys' hashes.
//
// A row opens a session of its own, [time, time + gap), and takes in every session that this touches; one
// exactly a gap behind the last row touches it, as in Flink. Which sessions are still open to a row is said
// by its own clock alone, whether or not they have been fired here: a row whose session its clock has closed
// is late, unless it touches one that is open. Of several splits, one of which is behind the other by more
// than a gap, it may so hang on who comes first whether two sessions stay two (docs/operators.md). The input
// only adds rows. Firing is done in steps.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/column_builder.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/accumulator_row.h"
#include "op/row/session_list.h"
#include "op/row/state_charge.h"
#include "op/window_slices.h"
#include "state/keyed_rows.h"

namespace caudal {

class SessionAggregate : public Operator {
 public:
  // `batch`: nothing is late.
  SessionAggregate(AggregateNode node, const Schema& input, const Schema& output,
                   std::unique_ptr<AccumulatorRow> accumulators, bool batch);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override { return {groups_.get()}; }
  bool passes_rows() const override { return false; }

 private:
  // When a session ends. Of a key no two end together.
  struct Ending {
    int64_t end;
    KeyEntry* entry;
  };
  struct Before {
    const SessionAggregate* owner;
    bool operator()(const Ending& a, const Ending& b) const;
  };

  // Picks the rows that have a time; rejects the others.
  void ReadTimes(const Chunk& chunk, Output& out);
  // The place in the list of the session that a row belongs to which its clock has let come so far: made, or
  // merged with those that the row touches. -1: there is none, it would have ended by then.
  int64_t Join(KeyEntry* entry, int64_t time, int64_t closed);
  // Accumulators take in what rows_ and picked_ say: before some are merged, and at the end of a chunk.
  void AddUp();
  int64_t ClosedBy(int64_t clock);
  Progress Fire(Output& out);
  void Charge();
  void AppendSession(const KeyEntry& entry, const Session& session);
  void EmitBatch(Output& out);

  AggregateNode node_;
  std::vector<Type> key_types_;
  Schema output_;
  int clock_column_;
  std::unique_ptr<AccumulatorRow> accumulators_;
  std::unique_ptr<WindowSlices> times_of_;  // slices of a ms: instants, wall clock times and their order
  std::unique_ptr<SessionListCodec> codec_;
  std::unique_ptr<KeyedRows> groups_;
  std::set<Ending, Before> endings_;
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;

  Watermark watermark_;  // the last one whose work is done: what made rows carry
  Watermark target_;     // the one being handled
  int64_t closed_end_;   // sessions up to it are closed, and all fired but in the middle of a watermark

  // Reused from chunk to chunk.
  const Chunk* chunk_ = nullptr;
  RowKeys keys_;
  std::vector<KeyEntry*> entries_;
  std::vector<uint16_t> timed_;
  std::vector<int64_t> times_;
  std::vector<uint16_t> picked_;
  std::vector<char*> rows_;
  std::vector<ColumnBuilder> builders_;  // keys, results, window columns
  int32_t batch_ = 0;                    // rows in them
  int64_t cached_clock_ = Watermark::kNone;
  int64_t cached_closed_ = 0;
};

}  // namespace caudal
