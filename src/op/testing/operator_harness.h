// OperatorHarness: one operator alone: chunk literals in, text out. For tests alone.
//
// Emitted rows are lines "+I | …", rejected ones "late{watermark} +I | …" in the order in which they left.
// Calls that return kMore are resumed until done.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/operator.h"
#include "base/env.h"
#include "data/schema.h"
#include "op/testing/chunk_literal.h"
#include "op/testing/text_output.h"
#include "state/testing/only_segment.h"

namespace caudal {

// A clock that each look at it moves on, as if the work in between had taken that long.
class TickingEnv : public ManualEnv {
 public:
  int64_t SteadyNanos() override {
    Advance(tick_micros);
    return ManualEnv::SteadyNanos();
  }
  int64_t tick_micros = 0;
};

class OperatorHarness {
 public:
  OperatorHarness(std::unique_ptr<Operator> op, Schema input, EvaluatorOptions evaluator = {},
                  bool mini_batch = false)
      : input_(std::move(input)), op_(std::move(op)) {
    OperatorContext context;
    context.env = &env_;
    context.budget = &budget_;
    context.fates = &fates_;
    context.evaluator = std::move(evaluator);
    context.mini_batch = mini_batch;
    const Status opened = op_->Open(context);
    CHECK(opened.ok());
  }

  // The text of what left during the call.
  std::string Rows(std::string_view literal) { return Feed(ChunkLiteral(input_, literal)); }
  std::string Feed(const Chunk& chunk) {
    return Run([&](Output& out) { return op_->OnChunk(0, chunk, out); });
  }
  std::string OnWatermark(int64_t event, int64_t processing = 0) {
    watermark_ = {event, processing};
    const std::string flushed = Run([&](Output& out) { return op_->OnFlush(FlushBefore::kWatermark, out); });
    return flushed + Run([&](Output& out) { return op_->OnWatermark(watermark_, out); });
  }
  // As before a barrier.
  std::string Flush() {
    return Run([&](Output& out) { return op_->OnFlush(FlushBefore::kBarrier, out); });
  }

  // Segments of every table, to be restored by RestoreFrom of another harness.
  std::vector<std::string> Snapshot(StateTable::SnapshotKind kind = StateTable::SnapshotKind::kDelta) {
    std::vector<std::string> segments;
    for (StateTable* table : op_->state()) segments.push_back(OnlySegment(*table, kind));
    return segments;
  }
  // `history`: what Snapshot returned, oldest first.
  void RestoreFrom(const std::vector<std::vector<std::string>>& history, Watermark watermark,
                   KeyGroupRange groups = {}) {
    for (size_t t = 0; t < op_->state().size(); ++t) {
      std::vector<std::string> segments;
      for (const auto& snapshot : history) {
        if (!snapshot[t].empty()) segments.push_back(snapshot[t]);
      }
      const Status restored = op_->state()[t]->Restore(segments, groups);
      if (!restored.ok()) std::fputs(restored.ToString().c_str(), stderr);
      CHECK(restored.ok());
    }
    watermark_ = watermark;
    const Status status = op_->OnRestore(watermark);
    CHECK(status.ok());
  }

  Operator& op() { return *op_; }
  TextOutput& out() { return out_; }
  TickingEnv& env() { return env_; }
  FateCounters& fates() { return fates_; }
  MemoryBudget& budget() { return budget_; }
  const Watermark& watermark() const { return watermark_; }
  int resumes() const { return resumes_; }
  int64_t StateRows() {
    int64_t rows = 0;
    for (StateTable* table : op_->state()) rows += table->rows();
    return rows;
  }

 private:
  template <typename Call>
  std::string Run(Call call) {
    out_.text.clear();
    out_.chunks = 0;
    Result<Progress> progress = call(out_);
    while (progress.ok() && *progress == Progress::kMore) {
      out_.chunks = 0;
      ++resumes_;
      progress = op_->Resume(out_);
    }
    if (!progress.ok()) return progress.status().ToString();
    return std::exchange(out_.text, "");
  }

  Schema input_;
  TickingEnv env_;
  MemoryBudget budget_{"test", 0};
  FateCounters fates_;
  TextOutput out_;
  Watermark watermark_;
  int resumes_ = 0;
  std::unique_ptr<Operator> op_;
};

}  // namespace caudal
