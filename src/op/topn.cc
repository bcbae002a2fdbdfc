#include "op/topn.h"

#include <algorithm>

#include "op/row/key_types.h"

namespace caudal {
namespace {

constexpr int64_t kTopNStep = 10'000'000;  // ns
constexpr int32_t kRowsBetweenLooks = 64;  // at the time and the output

}  // namespace

TopN::TopN(TopNNode node, const Schema& input, const Schema& output, int64_t ttl)
    : node_(std::move(node)),
      by_place_(node_.with_rank || node_.first > 1 || (node_.last == 1 && !node_.retracting)),
      layout_(input, output, node_.with_rank ? 1 : 0),
      codec_(layout_.words() + " " + RankWords(node_)),
      partitions_("partitions", KeyTypesText(input, node_.partition), &codec_, ttl),
      changes_(output) {}

Status TopN::Open(const OperatorContext& context) {
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "TopN");
  return Status();
}

Status TopN::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  partitions_.Expire(watermark);
  charge_.Set(partitions_.bytes());
  return Status();
}

Result<Progress> TopN::OnChunk(int port, const Chunk& chunk, Output& out) {
  chunk_ = chunk;
  at_ = 0;
  keys_.Encode(chunk_, node_.partition, chunk_.rows());
  partitions_.FindOrInsert(keys_, &entries_);
  *absorbed_ += chunk_.size();
  return Resume(out);
}

Result<Progress> TopN::Resume(Output& out) {
  const int64_t start = env_->SteadyNanos();
  for (; at_ < chunk_.size(); ++at_) {
    if (at_ % kRowsBetweenLooks == 0 && (out.full() || env_->SteadyNanos() - start > kTopNStep)) {
      changes_.Emit(watermark_.event, out);
      return Progress::kMore;
    }
    const int32_t row = chunk_.rows()[at_];
    KeyEntry* entry = entries_[static_cast<size_t>(at_)];
    order_.clear();
    row_.clear();
    if (!node_.by_arrival) AppendSortKey(node_.order, chunk_, row, &order_);
    RowList& list = RowList::At(entry->row());
    const bool add = IsAdd(chunk_.kind(row));
    // The usual case at a full list of an insert-only input: not among the best, nothing to do.
    if (add && !node_.retracting && list.size() >= node_.last) {
      const int compared = node_.by_arrival ? 0 : order_.compare(list.order(list.size() - 1));
      if (compared > 0 || (compared == 0 && !node_.rowtime_last)) continue;
    }
    layout_.AppendRow(chunk_, row, &row_);
    if (node_.rising && chunk_.kind(row) == RowKind::kUpdateBefore && UpdateFollows()) {
      old_order_.swap(order_);
      old_row_.swap(row_);
      const int32_t after = chunk_.rows()[++at_];
      order_.clear();
      row_.clear();
      AppendSortKey(node_.order, chunk_, after, &order_);
      layout_.AppendRow(chunk_, after, &row_);
      Raise(list, out);
    } else if (add) {
      Add(list, out);
    } else {
      TakeAway(list, out);
    }
    partitions_.Touch(entry);
  }
  changes_.Emit(watermark_.event, out);
  DropEmpty();
  chunk_ = Chunk();
  at_ = 0;
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

void TopN::EmitRow(RowKind kind, std::string_view row, int64_t rank, Output& out) {
  if (rank < node_.first || rank > node_.last) return;
  if (kind == RowKind::kUpdateBefore && !node_.update_before) return;
  if (changes_.size() == ChangeBuilder::kMost) changes_.Emit(watermark_.event, out);
  layout_.Decode(row, changes_.columns());
  if (node_.with_rank) changes_.columns()[layout_.made_column()].Append(rank);
  changes_.Close(kind, at_);
}

void TopN::Add(RowList& list, Output& out) {
  const int64_t at = node_.rowtime_last ? list.LowerBound(order_) : list.UpperBound(order_);
  const int64_t size = list.size();
  if (at < node_.last) {
    if (by_place_) {
      // Each row from here on moves a place down.
      for (int64_t i = at; i < std::min(size, node_.last); ++i) {
        EmitRow(RowKind::kUpdateBefore, list.row(i), i + 1, out);
        EmitRow(RowKind::kUpdateAfter, i == at ? std::string_view(row_) : list.row(i - 1), i + 1, out);
      }
      if (size < node_.last) {
        EmitRow(RowKind::kInsert, size == at ? std::string_view(row_) : list.row(size - 1), size + 1, out);
      }
    } else {
      if (size >= node_.last) EmitRow(RowKind::kDelete, list.row(node_.last - 1), node_.last, out);
      EmitRow(RowKind::kInsert, row_, at + 1, out);
    }
  }
  list.Insert(at, order_, row_);
  if (!node_.retracting && list.size() > node_.last) list.Remove(list.size() - 1);
}

void TopN::TakeAway(RowList& list, Output& out) {
  const int64_t at = list.Find(order_, row_);
  if (at < 0) return;
  const int64_t size = list.size();
  if (at < node_.last) {
    if (by_place_) {
      for (int64_t i = at; i < std::min(size - 1, node_.last); ++i) {
        EmitRow(RowKind::kUpdateBefore, list.row(i), i + 1, out);
        EmitRow(RowKind::kUpdateAfter, list.row(i + 1), i + 1, out);
      }
      if (size <= node_.last) EmitRow(RowKind::kDelete, list.row(size - 1), size, out);
    } else {
      EmitRow(RowKind::kDelete, list.row(at), at + 1, out);
      if (size > node_.last) EmitRow(RowKind::kInsert, list.row(node_.last), node_.last, out);
    }
  }
  list.Remove(at);
}

// Whether the next row of the chunk is the new form of this one, in the same partition.
bool TopN::UpdateFollows() const {
  return at_ + 1 < chunk_.size() && chunk_.kind(chunk_.rows()[at_ + 1]) == RowKind::kUpdateAfter &&
         entries_[static_cast<size_t>(at_ + 1)] == entries_[static_cast<size_t>(at_)];
}

void TopN::Raise(RowList& list, Output& out) {
  const int64_t from = list.Find(old_order_, old_row_);
  if (from < 0) return Add(list, out);
  const int64_t to = std::min(list.UpperBound(order_), from);
  if (by_place_) {
    // Each row between the two places moves a place down.
    for (int64_t i = to; i <= std::min(from, node_.last - 1); ++i) {
      EmitRow(RowKind::kUpdateBefore, list.row(i), i + 1, out);
      EmitRow(RowKind::kUpdateAfter, i == to ? std::string_view(row_) : list.row(i - 1), i + 1, out);
    }
  } else if (from < node_.last) {
    EmitRow(RowKind::kUpdateBefore, list.row(from), from + 1, out);
    EmitRow(RowKind::kUpdateAfter, row_, from + 1, out);
  } else if (to < node_.last) {
    EmitRow(RowKind::kDelete, list.row(node_.last - 1), node_.last, out);
    EmitRow(RowKind::kInsert, row_, to + 1, out);
  }
  list.Remove(from);
  list.Insert(to, order_, row_);
}

void TopN::DropEmpty() {
  std::vector<KeyEntry*> empty;
  for (KeyEntry* entry : entries_) {
    if (RowList::At(entry->row()).empty()) empty.push_back(entry);
  }
  std::sort(empty.begin(), empty.end());
  empty.erase(std::unique(empty.begin(), empty.end()), empty.end());
  for (KeyEntry* entry : empty) partitions_.Erase(entry);
  entries_.clear();
}

Result<Progress> TopN::OnWatermark(const Watermark& watermark, Output& out) {
  watermark_ = watermark;
  partitions_.Expire(watermark);
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
