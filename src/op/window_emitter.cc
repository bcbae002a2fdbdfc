#include "op/window_emitter.h"

#include <algorithm>

#include "data/row_bytes.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

// Panes of a key, and slices of a window, from which on merging anew costs more than remembering.
constexpr size_t kWorthRemembering = 4;

// What AppendRowBytes of the emitted columns restores: types for the fingerprint.
std::string ResultWords(const Schema& output, size_t keys, size_t results) {
  std::string words;
  for (size_t i = keys; i < keys + results; ++i) {
    words.append(words.empty() ? "" : ", ").append(output.fields[i].type.ToString());
  }
  return words;
}

}  // namespace

WindowEmitter::WindowEmitter(const AggregateNode& node, std::vector<Type> key_types, Schema output,
                             AccumulatorRow* accumulators, WindowSlices* windows)
    : window_columns_(node.window_columns),
      retracting_(node.retracting),
      update_before_(node.update_before),
      key_types_(std::move(key_types)),
      result_count_(node.calls.size()),
      output_(std::move(output)),
      has_clock_(output_.size() > 0 && output_.fields.back().name == kClockColumn),
      accumulators_(accumulators),
      windows_(windows),
      emitted_codec_(ResultWords(output_, key_types_.size(), result_count_)),
      early_(accumulators, &merged_bytes_) {
  const size_t columns = key_types_.size() + result_count_ + window_columns_.size();
  for (size_t i = 0; i < columns; ++i) builders_.emplace_back(output_.fields[i].type, kBatch);
  if (node.early_fire_delay > 0) {
    std::string keys;
    for (const Type& type : key_types_) keys += type.WithNullable(true).ToString() + ",";
    emitted_ = std::make_unique<Panes>("emitted", keys, windows->Words(), &emitted_codec_);
  }
}

WindowEmitter::~WindowEmitter() {
  for (size_t i = 0; i < scratch_used_; ++i) accumulators_->Destroy(scratch_[i].get());
}

char* WindowEmitter::Scratch() {
  if (scratch_used_ == scratch_.size()) {
    scratch_.push_back(std::make_unique<char[]>(accumulators_->width()));
  }
  char* row = scratch_[scratch_used_++].get();
  accumulators_->Init(row);
  return row;
}

const char* WindowEmitter::MergeDirectly(std::span<const Panes::Pane> panes, int64_t end) {
  const int64_t first = windows_->FirstSlice(end);
  auto from = std::lower_bound(panes.begin(), panes.end(), first,
                               [](const Panes::Pane& pane, int64_t slice) { return pane.slice < slice; });
  const char* only = nullptr;
  char* merged = nullptr;
  for (; from != panes.end() && from->slice < end; ++from) {
    if (from->from_end() > end) continue;
    if (only == nullptr) {
      only = from->row;  // one pane needs no merging
      continue;
    }
    if (merged == nullptr) {
      merged = Scratch();
      accumulators_->Merge(merged, only);
    }
    accumulators_->Merge(merged, from->row);
  }
  return merged != nullptr ? merged : only;
}

void WindowEmitter::AddRow(const Panes& table, const KeyEntry& entry, int64_t end, const char* row) {
  if (row == nullptr) return;
  // A group whose rows were all taken away is none, but an early result of it has to go.
  if (retracting_ && emitted_ == nullptr && AccumulatorRow::row_count(row) <= 0) return;
  pairs_.push_back({table.key(entry), entry.hash, end, row});
}

void WindowEmitter::Add(const Panes& table, KeyEntry* entry, int64_t end) {
  const std::span<const Panes::Pane> panes = table.panes(*entry);
  if (windows_->slices_per_window() < static_cast<int64_t>(kWorthRemembering) ||
      panes.size() < kWorthRemembering) {
    return AddRow(table, *entry, end, MergeDirectly(panes, end));
  }
  auto* merged = static_cast<MergedPanes*>(Panes::attachment(*entry));
  if (merged == nullptr) {
    auto made = std::make_unique<MergedPanes>(accumulators_, &merged_bytes_);
    merged = made.get();
    Panes::Attach(entry, std::move(made));
  }
  const char* row = merged->Merge(panes, windows_->FirstSlice(end), end);
  AddRow(table, *entry, end, row != nullptr ? row : MergeDirectly(panes, end));
}

void WindowEmitter::AddEarly(const Panes& table, KeyEntry* entry, int64_t end) {
  if (entry != early_entry_) early_.Reset();
  early_entry_ = entry;
  const std::span<const Panes::Pane> panes = table.panes(*entry);
  const char* row =
      panes.size() < kWorthRemembering ? nullptr : early_.Merge(panes, windows_->FirstSlice(end), end);
  if (row == nullptr) return AddRow(table, *entry, end, MergeDirectly(panes, end));
  // The next window of the key may change the row.
  char* copy = Scratch();
  accumulators_->Merge(copy, row);
  AddRow(table, *entry, end, copy);
}

void WindowEmitter::Prefetch(const KeyEntry& entry) {
  if (const auto* merged = static_cast<const MergedPanes*>(Panes::attachment(entry))) merged->Prefetch();
}

void WindowEmitter::Forget(const KeyEntry& entry) {
  if (auto* merged = static_cast<MergedPanes*>(Panes::attachment(entry))) merged->Reset();
}

void WindowEmitter::AppendLabels(int64_t end, ColumnBuilder* builders) {
  for (size_t i = 0; i < window_columns_.size(); ++i) {
    const int64_t ticks = builders[i].type().ticks_per_second() / 1000;
    switch (window_columns_[i]) {
      case AggregateNode::WindowColumn::kStart:
        builders[i].Append(windows_->StartLabel(end) * ticks);
        break;
      case AggregateNode::WindowColumn::kEnd:
        builders[i].Append(windows_->EndLabel(end) * ticks);
        break;
      case AggregateNode::WindowColumn::kTime:
        builders[i].Append(windows_->TimeLabel(end) * ticks);
        break;
    }
  }
}

Chunk WindowEmitter::Finish(int32_t rows, RowKindsPtr kinds, int64_t clock) {
  std::vector<ColumnPtr> columns;
  columns.reserve(builders_.size() + 1);
  for (ColumnBuilder& builder : builders_) columns.push_back(builder.Finish());
  if (has_clock_) columns.push_back(ConstantColumn(output_.fields.back().type, Value(clock), rows));
  return Chunk(std::move(columns), rows, nullptr, std::move(kinds));
}

void WindowEmitter::FlushOnce(std::span<const Pair> pairs, int64_t clock, Output& out) {
  for (const Pair& pair : pairs) {
    DecodeKey(pair.key, key_types_, &builders_);
    AppendLabels(pair.end, labels());
  }
  accumulators_->Results(rows_.data(), static_cast<int32_t>(rows_.size()), results());
  out.Emit(Finish(static_cast<int32_t>(pairs.size()), nullptr, clock));
}

void WindowEmitter::FlushUpdates(std::span<const Pair> pairs, int64_t clock, Output& out) {
  std::vector<ColumnBuilder> fresh;
  for (size_t i = 0; i < result_count_; ++i) fresh.emplace_back(results()[i].type(), kBatch);
  accumulators_->Results(rows_.data(), static_cast<int32_t>(rows_.size()), fresh.data());
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : fresh) columns.push_back(builder.Finish());

  auto kinds = MakeRowKinds();
  auto emit = [&](RowKind kind, const Pair& pair, std::string_view values) {
    kinds->push_back(kind);
    DecodeKey(pair.key, key_types_, &builders_);
    DecodeRowBytes(values, results(), result_count_);
    AppendLabels(pair.end, labels());
  };
  std::string now;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    char* held = emitted_->LocateOne(pair.key, pair.hash, pair.end);
    const std::string_view before = BytesRow::Get(held);
    now.clear();
    now.push_back(1);  // so that no result is as empty as "not emitted"
    AppendRowBytes(columns, static_cast<int32_t>(i), &now);
    if (retracting_ && AccumulatorRow::row_count(pair.row) <= 0) {
      if (!before.empty()) emit(RowKind::kDelete, pair, before.substr(1));
      BytesRow::Set(held, {});
      continue;
    }
    if (before == now) continue;
    if (before.empty()) {
      emit(RowKind::kInsert, pair, std::string_view(now).substr(1));
    } else {
      if (update_before_) emit(RowKind::kUpdateBefore, pair, before.substr(1));
      emit(RowKind::kUpdateAfter, pair, std::string_view(now).substr(1));
    }
    BytesRow::Set(held, now);
  }
  if (kinds->empty()) return;
  const int32_t rows = static_cast<int32_t>(kinds->size());
  out.Emit(Finish(rows, std::move(kinds), clock));
}

void WindowEmitter::Flush(int64_t clock, Output& out) {
  // One key may have had more windows than a chunk has room for.
  for (size_t first = 0; first < pairs_.size(); first += kBatch) {
    const std::span<const Pair> batch =
        std::span<const Pair>(pairs_).subspan(first, std::min<size_t>(kBatch, pairs_.size() - first));
    rows_.clear();
    for (const Pair& pair : batch) rows_.push_back(pair.row);
    if (emitted_ != nullptr) {
      FlushUpdates(batch, clock, out);
    } else {
      FlushOnce(batch, clock, out);
    }
  }
  pairs_.clear();
  early_.Reset();
  early_entry_ = nullptr;
  for (size_t i = 0; i < scratch_used_; ++i) accumulators_->Destroy(scratch_[i].get());
  scratch_used_ = 0;
}

}  // namespace caudal
