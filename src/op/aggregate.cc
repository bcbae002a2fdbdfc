#include "op/aggregate.h"

#include <algorithm>

#include "data/row_bytes.h"
#include "op/row/key_types.h"

namespace caudal {
namespace {

// Each row of a block makes two rows at most.
constexpr int32_t kBlock = ChangeBuilder::kMost / 2;
constexpr int64_t kAggregateStep = 10'000'000;  // ns

}  // namespace

Aggregate::Aggregate(AggregateNode node, const Schema& input, const Schema& output,
                     std::unique_ptr<AccumulatorRow> accumulators, int64_t ttl)
    : node_(std::move(node)),
      accumulators_(std::move(accumulators)),
      groups_("groups", KeyTypesText(input, node_.keys), accumulators_.get(), ttl),
      changes_(output),
      refreshes_(ttl > 0 && (node_.retracting || !node_.calls.empty())) {
  const size_t keys = node_.keys.size();
  for (size_t i = 0; i < keys + node_.calls.size(); ++i) {
    (i < keys ? key_types_ : result_types_).push_back(output.fields[i].type);
  }
  for (const Type& type : result_types_) result_builders_.emplace_back(type);
}

Status Aggregate::Open(const OperatorContext& context) {
  defer_ = node_.emit == AggregateNode::Emit::kOnEnd || context.mini_batch;
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "Aggregate");
  return Status();
}

Status Aggregate::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  target_ = watermark;
  end_emitted_ = watermark.event == Watermark::kEnd;
  groups_.Expire(watermark);
  charge_.Set(groups_.bytes());
  return Status();
}

Result<Progress> Aggregate::OnChunk(int port, const Chunk& chunk, Output& out) {
  const RowSet rows = chunk.rows();
  for (int32_t first = 0; first < rows.count; first += kBlock) {
    picked_.clear();
    for (int32_t i = first; i < std::min(first + kBlock, rows.count); ++i) {
      picked_.push_back(static_cast<uint16_t>(rows[i]));
    }
    const std::vector<uint16_t> block = picked_;
    HandleBlock(chunk, {block.data(), static_cast<int32_t>(block.size())}, out);
  }
  *absorbed_ += rows.count;
  charge_.Set(groups_.bytes());
  if (defer_ && pending_.size() >= static_cast<size_t>(kBlock)) return OnFlush(FlushBefore::kWatermark, out);
  return Progress::kDone;
}

void Aggregate::HandleBlock(const Chunk& chunk, RowSet rows, Output& out) {
  keys_.Encode(chunk, node_.keys, rows);
  groups_.FindOrInsert(keys_, &entries_);

  // The n-th row of a group goes to round n.
  std::vector<uint16_t> pending_places;
  for (KeyEntry* entry : entries_) {
    pending_places.push_back(entry->scratch);
    entry->scratch = 0;
  }
  for (auto& round : rounds_) round.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    const size_t round = entries_[i]->scratch++;
    if (round == rounds_.size()) rounds_.emplace_back();
    rounds_[round].push_back(static_cast<int32_t>(i));
  }
  for (size_t i = entries_.size(); i > 0; --i) entries_[i - 1]->scratch = pending_places[i - 1];

  for (const auto& round : rounds_) {
    if (round.empty()) break;
    HandleRound(chunk, rows, round);
  }
  for (KeyEntry* entry : entries_) groups_.Touch(entry);
  DropEmpty();
  changes_.Emit(watermark_.event, out);
}

void Aggregate::ResultsOf(const std::vector<KeyEntry*>& groups, std::vector<ColumnPtr>* results) {
  result_rows_.clear();
  for (const KeyEntry* entry : groups) result_rows_.push_back(entry->row());
  accumulators_->Results(result_rows_.data(), static_cast<int32_t>(groups.size()), result_builders_.data());
  results->clear();
  for (ColumnBuilder& builder : result_builders_) results->push_back(builder.Finish());
}

void Aggregate::HandleRound(const Chunk& chunk, RowSet rows, const std::vector<int32_t>& round) {
  const bool at_end = node_.emit == AggregateNode::Emit::kOnEnd;
  std::vector<int32_t> taken;
  std::vector<std::string> before;  // of each taken row's group; empty: it had no row
  existing_.clear();
  rows_.clear();
  picked_.clear();
  for (int32_t i : round) {
    KeyEntry* entry = entries_[static_cast<size_t>(i)];
    const bool exists = AccumulatorRow::row_count(entry->row()) > 0;
    // Nothing can be taken from a group that is not there.
    if (!exists && !IsAdd(chunk.kind(rows[i]))) continue;
    taken.push_back(i);
    if (exists) existing_.push_back(entry);
    rows_.push_back(entry->row());
    picked_.push_back(static_cast<uint16_t>(rows[i]));
  }
  std::vector<ColumnPtr> old_results;
  if (!at_end) ResultsOf(existing_, &old_results);
  before.resize(at_end ? 0 : taken.size());
  for (size_t t = 0, e = 0; t < before.size(); ++t) {
    if (e == existing_.size() || existing_[e] != entries_[static_cast<size_t>(taken[t])]) continue;
    before[t].push_back(1);
    AppendRowBytes(old_results, static_cast<int32_t>(e++), &before[t]);
  }
  accumulators_->Update(rows_.data(), chunk, {picked_.data(), static_cast<int32_t>(picked_.size())});

  existing_.clear();
  for (size_t t = 0; t < taken.size(); ++t) {
    KeyEntry* entry = entries_[static_cast<size_t>(taken[t])];
    if (AccumulatorRow::row_count(entry->row()) > 0) {
      existing_.push_back(entry);
    } else {  // the group begins anew with its next row
      accumulators_->Destroy(entry->row());
      accumulators_->Init(entry->row());
    }
  }
  if (at_end) return;
  if (defer_) {
    for (size_t t = 0; t < taken.size(); ++t) {
      KeyEntry* entry = entries_[static_cast<size_t>(taken[t])];
      if (entry->scratch != 0) continue;
      pending_.push_back({entry, std::move(before[t])});
      entry->scratch = static_cast<uint16_t>(pending_.size());
    }
    return;
  }
  std::vector<ColumnPtr> new_results;
  ResultsOf(existing_, &new_results);
  std::string now;
  for (size_t t = 0, e = 0; t < taken.size(); ++t) {
    KeyEntry* entry = entries_[static_cast<size_t>(taken[t])];
    now.clear();
    if (e < existing_.size() && existing_[e] == entry) {
      now.push_back(1);
      AppendRowBytes(new_results, static_cast<int32_t>(e++), &now);
    }
    EmitChange(*entry, before[t], now, taken[t]);
  }
}

void Aggregate::EmitChange(const KeyEntry& entry, std::string_view before, std::string_view now,
                           int32_t place) {
  // With a TTL an unchanged result is sent all the same: state behind must not expire before this group.
  if (before == now && (!refreshes_ || now.empty())) return;
  auto add = [&](RowKind kind, std::string_view results) {
    std::string_view key = groups_.key(entry);
    for (size_t k = 0; k < key_types_.size(); ++k) DecodeKeyValue(&key, &changes_.columns()[k]);
    DecodeRowBytes(results.substr(1), changes_.columns() + key_types_.size(), result_types_.size());
    changes_.Close(kind, place);
  };
  if (now.empty()) return add(RowKind::kDelete, before);
  if (before.empty()) return add(RowKind::kInsert, now);
  if (node_.update_before) add(RowKind::kUpdateBefore, before);
  add(RowKind::kUpdateAfter, now);
}

void Aggregate::DropEmpty() {
  if (!node_.retracting) return;
  std::vector<KeyEntry*> empty;
  for (KeyEntry* entry : entries_) {
    if (AccumulatorRow::row_count(entry->row()) == 0 && entry->scratch == 0) empty.push_back(entry);
  }
  std::sort(empty.begin(), empty.end());
  empty.erase(std::unique(empty.begin(), empty.end()), empty.end());
  for (KeyEntry* entry : empty) groups_.Erase(entry);
}

Progress Aggregate::FlushSome(Output& out) {
  const int64_t start = env_->SteadyNanos();
  while (flushed_ < pending_.size()) {
    if (out.full() || env_->SteadyNanos() - start > kAggregateStep) return Progress::kMore;
    const size_t last = std::min(flushed_ + kBlock, pending_.size());
    existing_.clear();
    for (size_t p = flushed_; p < last; ++p) {
      if (AccumulatorRow::row_count(pending_[p].entry->row()) > 0) existing_.push_back(pending_[p].entry);
    }
    std::vector<ColumnPtr> results;
    ResultsOf(existing_, &results);
    std::string now;
    for (size_t e = 0; flushed_ < last; ++flushed_) {
      KeyEntry* entry = pending_[flushed_].entry;
      now.clear();
      if (e < existing_.size() && existing_[e] == entry) {
        now.push_back(1);
        AppendRowBytes(results, static_cast<int32_t>(e++), &now);
      }
      EmitChange(*entry, pending_[flushed_].before, now, 0);
      entry->scratch = 0;
      if (now.empty()) groups_.Erase(entry);
    }
    changes_.Emit(watermark_.event, out);
  }
  pending_.clear();
  flushed_ = 0;
  charge_.Set(groups_.bytes());
  return Progress::kDone;
}

Progress Aggregate::EmitAll(Output& out) {
  const int64_t start = env_->SteadyNanos();
  // Without GROUP BY there is one group, be there rows or not.
  if (node_.keys.empty() && groups_.rows() == 0) groups_.FindOrInsert({}, RowKeys::Hash({}));
  bool end = false;
  while (!end) {
    if (out.full() || env_->SteadyNanos() - start > kAggregateStep) return Progress::kMore;
    existing_.clear();
    end = groups_.Walk(&cursor_, [this](KeyEntry* entry) {
      if (existing_.size() == static_cast<size_t>(kBlock)) return false;
      existing_.push_back(entry);
      return true;
    });
    std::vector<ColumnPtr> results;
    ResultsOf(existing_, &results);
    std::string now;
    for (size_t e = 0; e < existing_.size(); ++e) {
      now.assign(1, 1);
      AppendRowBytes(results, static_cast<int32_t>(e), &now);
      EmitChange(*existing_[e], {}, now, 0);
    }
    changes_.Emit(watermark_.event, out);
  }
  end_emitted_ = true;
  return Progress::kDone;
}

Result<Progress> Aggregate::OnFlush(FlushBefore next, Output& out) {
  pending_work_ = Pending::kFlush;
  return Resume(out);
}

Result<Progress> Aggregate::OnWatermark(const Watermark& watermark, Output& out) {
  target_ = watermark;
  pending_work_ = Pending::kEnd;
  return Resume(out);
}

Result<Progress> Aggregate::Resume(Output& out) {
  if (pending_work_ == Pending::kFlush) return FlushSome(out);
  const bool emit_all = node_.emit == AggregateNode::Emit::kOnEnd && target_.event == Watermark::kEnd;
  if (emit_all && !end_emitted_ && EmitAll(out) == Progress::kMore) return Progress::kMore;
  watermark_ = target_;
  groups_.Expire(watermark_);
  charge_.Set(groups_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
