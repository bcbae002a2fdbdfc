#include "op/window_emitter.h"

#include <algorithm>

#include "data/row_bytes.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

// Panes of a key, and slices of a window, from which on merging anew costs more than remembering.
constexpr size_t kWorthRemembering = 4;
// With newest_window firings lie half a window apart: few checkpoints are of use, and a key of
// few panes is merged anew in less time than its merged rows, of which each key would hold a dozen, cost
// memory.
constexpr size_t kWorthRememberingApart = 24;
constexpr int64_t kCheckpointsApart = 4;

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
      worth_remembering_(node.newest_window ? kWorthRememberingApart : kWorthRemembering),
      checkpoints_(node.newest_window ? kCheckpointsApart : MergedPanes::kMostCheckpoints),
      emitted_codec_(ResultWords(output_, key_types_.size(), result_count_)),
      spare_(accumulators),
      early_(accumulators, &spare_, &merged_bytes_) {
  const size_t columns = key_types_.size() + result_count_ + window_columns_.size();
  for (size_t i = 0; i < columns; ++i) builders_.emplace_back(output_.fields[i].type, kBatch);
  for (size_t i = 0; i < result_count_; ++i) fresh_.emplace_back(results()[i].type(), kBatch);
  if (node.early_fire_delay > 0) {
    std::string keys;
    for (const Type& type : key_types_) keys += type.WithNullable(true).ToString() + ",";
    emitted_ = std::make_unique<Panes>("emitted", keys, windows->Words(), &emitted_codec_);
  }
}

const char* WindowEmitter::MergeDirectly(PaneList panes, int64_t end) {
  const PaneList from = panes.subspan(panes.LowerBound(windows_->FirstSlice(end)));
  const PaneList window = from.first(from.LowerBound(end));
  // Panes lie far apart; they are on their way together.
  for (const Pane pane : window) __builtin_prefetch(pane.row);
  const char* only = nullptr;
  bool merged = false;
  for (const Pane pane : window) {
    if (pane.from_end() > end) continue;
    if (only == nullptr) {
      only = pane.row;  // one pane needs no merging
      continue;
    }
    if (!merged) {
      accumulators_->Assign(spare_.scratch(), only);
      merged = true;
    }
    accumulators_->Merge(spare_.scratch(), pane.row);
  }
  return merged ? spare_.scratch() : only;
}

void WindowEmitter::AddRow(const Panes& table, const KeyEntry& entry, int64_t end, const char* row) {
  if (row == nullptr) return;
  const bool gone = retracting_ && AccumulatorRow::row_count(row) <= 0;
  // A group whose rows were all taken away is none, but an early result of it has to go.
  if (gone && emitted_ == nullptr) return;
  pairs_.push_back({table.key(entry), entry.hash, end, gone});
  accumulators_->Results(&row, 1, fresh_.data());
}

void WindowEmitter::Add(const Panes& table, KeyEntry* entry, int64_t end) {
  const PaneList panes = table.panes(*entry);
  if (windows_->slices_per_window() < static_cast<int64_t>(worth_remembering_) ||
      panes.size() < worth_remembering_) {
    Forget(*entry);
    return AddRow(table, *entry, end, MergeDirectly(panes, end));
  }
  auto* merged = static_cast<MergedPanes*>(Panes::attachment(*entry));
  if (merged == nullptr) {
    auto made = std::make_unique<MergedPanes>(accumulators_, &spare_, &merged_bytes_, checkpoints_);
    merged = made.get();
    Panes::Attach(entry, std::move(made));
  }
  const char* row = merged->Merge(panes, windows_->FirstSlice(end), end);
  AddRow(table, *entry, end, row != nullptr ? row : MergeDirectly(panes, end));
}

void WindowEmitter::AddEarly(const Panes& table, KeyEntry* entry, int64_t end) {
  if (entry != early_entry_) early_.Reset();
  early_entry_ = entry;
  const PaneList panes = table.panes(*entry);
  const char* row =
      panes.size() < kWorthRemembering ? nullptr : early_.Merge(panes, windows_->FirstSlice(end), end);
  AddRow(table, *entry, end, row != nullptr ? row : MergeDirectly(panes, end));
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

char* WindowEmitter::FindEmitted(const Pair& pair) const {
  const KeyEntry* entry = emitted_->Find(pair.key, pair.hash);
  if (entry == nullptr) return nullptr;
  const PaneList panes = emitted_->panes(*entry);
  const size_t at = panes.LowerBound(pair.end);
  return at < panes.size() && panes.slice(at) == pair.end ? panes[at].row : nullptr;
}

void WindowEmitter::EmitOnce(int64_t clock, Output& out) {
  // The columns of results are the output's own.
  for (size_t i = 0; i < result_count_; ++i) std::swap(results()[i], fresh_[i]);
  for (const Pair& pair : pairs_) {
    DecodeKey(pair.key, key_types_, &builders_);
    AppendLabels(pair.end, labels());
  }
  out.Emit(Finish(static_cast<int32_t>(pairs_.size()), nullptr, clock));
}

void WindowEmitter::AppendChange(const Pair& pair, size_t at, char* held, bool remember,
                                 std::vector<RowKind>* kinds) {
  const std::string_view before = held == nullptr ? std::string_view() : BytesRow::Get(held);
  auto append = [&](RowKind kind, bool is_new) {
    kinds->push_back(kind);
    DecodeKey(pair.key, key_types_, &builders_);
    if (is_new) {
      for (size_t i = 0; i < result_count_; ++i) {
        results()[i].AppendFrom(*columns_[i], static_cast<int32_t>(at));
      }
    } else {
      DecodeRowBytes(before.substr(1), results(), result_count_);
    }
    AppendLabels(pair.end, labels());
  };
  if (pair.gone) {
    if (!before.empty()) append(RowKind::kDelete, false);
    if (remember) BytesRow::Set(held, {});
    return;
  }
  now_.assign(1, 1);  // so that no result is as empty as "not emitted"
  if (remember || !before.empty()) AppendRowBytes(columns_, static_cast<int32_t>(at), &now_);
  if (before == now_) return;
  if (before.empty()) {
    append(RowKind::kInsert, true);
  } else {
    if (update_before_) append(RowKind::kUpdateBefore, false);
    append(RowKind::kUpdateAfter, true);
  }
  if (remember) BytesRow::Set(held, now_);
}

void WindowEmitter::EmitUpdates(bool closing, int64_t clock, Output& out) {
  columns_.clear();
  for (ColumnBuilder& builder : fresh_) columns_.push_back(builder.Finish());
  // One key may have had more windows than a chunk has room for.
  for (size_t first = 0; first < pairs_.size(); first += kBatch) {
    auto kinds = MakeRowKinds();
    const size_t end = std::min<size_t>(pairs_.size(), first + kBatch);
    for (size_t i = first; i < end; ++i) {
      const Pair& pair = pairs_[i];
      char* held = closing ? held_[i] : emitted_->LocateOne(pair.key, pair.hash, pair.end);
      AppendChange(pair, i, held, !closing, kinds.get());
    }
    if (kinds->empty()) continue;
    const int32_t rows = static_cast<int32_t>(kinds->size());
    out.Emit(Finish(rows, std::move(kinds), clock));
  }
}

void WindowEmitter::FlushClosing(int64_t clock, Output& out) {
  bool once = true;
  if (emitted_ != nullptr) {
    held_.clear();
    for (const Pair& pair : pairs_) {
      held_.push_back(FindEmitted(pair));
      once = once && held_.back() == nullptr && !pair.gone;
    }
  }
  // When the stream is caught up with, most windows close before an early result of them was due.
  if (once && !pairs_.empty()) EmitOnce(clock, out);
  if (!once) EmitUpdates(true, clock, out);
  pairs_.clear();
}

void WindowEmitter::FlushEarly(int64_t clock, Output& out) {
  EmitUpdates(false, clock, out);
  pairs_.clear();
  early_.Reset();
  early_entry_ = nullptr;
}

}  // namespace caudal
