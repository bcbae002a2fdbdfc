// Lookup: JOIN … FOR SYSTEM_TIME AS OF processing time: asks a table outside for the keys of each chunk, all
// in one request on an I/O thread, and hands on the rows that it finds, in the order of the input.
//
// One request is on its way at a time, and nothing is taken before it is answered, so watermarks and barriers
// stay behind the rows before them. Who does not answer is asked again, for as long as it takes. What a chunk
// finds is charged until it is joined; between chunks there is nothing but a cache, if the table has one. A
// row with a NULL in its key finds nothing; one whose key or whose found row cannot be computed or read is
// dead{expression}. A row that finds nothing is filtered{lookup <table>} unless it is kept with NULLs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "api/lookup_node.h"
#include "api/operator.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "expr/evaluator.h"
#include "op/lookup/lookup_cache.h"
#include "op/row/state_charge.h"

namespace caudal {

class Lookup : public Operator {
 public:
  Lookup(LookupNode node, const Schema& input, const Schema& output);

  Status Open(const OperatorContext& context) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  int64_t resume_at() const override;
  Status trouble() const override { return trouble_; }
  bool passes_rows() const override { return node_.unique; }

 private:
  // Until `done` the I/O thread's, which writes `answer` before.
  struct Request {
    Chunk keys;
    Result<LookupRows> answer = LookupRows();
    std::atomic<bool> done{false};
  };
  // A row of the chunk beside one that it found, or beside none.
  struct Pair {
    uint16_t row = 0;
    const std::string* found = nullptr;
    bool last = true;  // of this row
  };
  static constexpr int32_t kNoKey = -1;     // NULL: finds nothing
  static constexpr int32_t kRejected = -2;  // has its fate

  void FindSlots(Output& out);
  void Ask();
  Status TakeAnswer();
  Status Keep(const LookupRows& rows);
  void ChargeMemory();
  void RejectUnreadable(Output& out);
  Result<Progress> Join(Output& out);
  std::vector<Pair> NextPairs();
  Status Match(const std::vector<Pair>& pairs, std::vector<Pair>* matched, Output& out);
  std::vector<bool> TestConditions(const std::vector<Pair>& pairs, std::vector<std::string>* errors);
  void AppendFound(const Pair& pair, std::vector<ColumnBuilder>* builders) const;
  void Emit(const std::vector<Pair>& pairs, Output& out);
  void Reject(uint16_t row, std::string message, Output& out);

  LookupNode node_;
  std::vector<int> source_;  // of each output column: the input's, or -1 - i for the i-th looked up
  std::vector<Type> types_;  // of the looked up columns, nullable
  int visible_ = 0;          // columns of the input that are not hidden
  std::unique_ptr<LookupReader> reader_;
  Evaluator evaluator_;
  Env* env_ = nullptr;
  std::function<void(std::function<void()>)> submit_;
  int64_t* unmatched_ = nullptr;
  int64_t* absorbed_ = nullptr;

  // Of the chunk at hand.
  Chunk chunk_;
  std::vector<int32_t> slots_;    // by place in the chunk: of its key in found_
  std::vector<FoundRows> found_;  // by slot
  std::vector<int32_t> asked_;    // slots, in the order of the request's keys
  std::unique_ptr<Request> request_;
  int64_t retry_at_ = 0;
  int64_t pause_ = 0;
  Status trouble_;
  int32_t at_ = 0;         // the place whose turn it is
  size_t next_found_ = 0;  // which of its rows
  bool any_matched_ = false;
  std::string failure_;  // of a condition, for the row whose turn it is
  RowKeys keys_;
  std::vector<std::string> asked_keys_;  // of a cache: the keys of asked_ as bytes
  std::unique_ptr<LookupCache> cache_;   // null: none
  StateCharge charge_;                   // what was found, and the cache
};

}  // namespace caudal
