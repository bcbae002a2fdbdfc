#include "op/materialize.h"

#include <algorithm>

#include "op/row/key_types.h"

namespace caudal {
namespace {

// What items of the list are "ordered" by; they stand as they came.
constexpr std::string_view kHere = "+";
constexpr std::string_view kOwed = "-";

}  // namespace

Materialize::Materialize(MaterializeNode node, const Schema& input, const Schema& output, int64_t ttl)
    : node_(std::move(node)),
      layout_(input, output),
      codec_(layout_.words()),
      rows_("rows", KeyTypesText(input, node_.keys), &codec_, ttl),
      changes_(output) {}

Status Materialize::Open(const OperatorContext& context) {
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "Materialize");
  return Status();
}

Status Materialize::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  rows_.Expire(watermark);
  charge_.Set(rows_.bytes());
  return Status();
}

int64_t Materialize::Seen(const RowList& list) {
  int64_t i = list.size() - 1;
  while (i >= 0 && list.order(i) != kHere) --i;
  return i;
}

void Materialize::Change(RowList& list, bool add) {
  // The newest of equal rows goes; an addition meets what is owed first.
  for (int64_t i = list.size() - 1; i >= 0; --i) {
    if (list.order(i) == (add ? kOwed : kHere) && list.row(i) == row_) return list.Remove(i);
  }
  list.Insert(list.size(), add ? kHere : kOwed, row_);
}

void Materialize::EmitRow(RowKind kind, std::string_view row, Output& out) {
  if (changes_.size() == ChangeBuilder::kMost) changes_.Emit(watermark_.event, out);
  layout_.Decode(row, changes_.columns());
  changes_.Close(kind, 0);
}

Result<Progress> Materialize::OnChunk(int port, const Chunk& chunk, Output& out) {
  keys_.Encode(chunk, node_.keys, chunk.rows());
  rows_.FindOrInsert(keys_, &entries_);
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const int32_t row = chunk.rows()[i];
    KeyEntry* entry = entries_[static_cast<size_t>(i)];
    RowList& list = RowList::At(entry->row());
    row_.clear();
    layout_.AppendRow(chunk, row, &row_);
    const int64_t seen_before = Seen(list);
    before_.assign(seen_before < 0 ? std::string_view() : list.row(seen_before));
    Change(list, IsAdd(chunk.kind(row)));
    rows_.Touch(entry);

    const int64_t seen = Seen(list);
    if (seen >= 0 && seen_before < 0) {
      EmitRow(RowKind::kInsert, list.row(seen), out);
    } else if (seen >= 0 && list.row(seen) != before_) {
      if (node_.update_before) EmitRow(RowKind::kUpdateBefore, before_, out);
      EmitRow(RowKind::kUpdateAfter, list.row(seen), out);
    } else if (seen < 0 && seen_before >= 0) {
      EmitRow(RowKind::kDelete, before_, out);
    }
  }
  changes_.Emit(watermark_.event, out);
  *absorbed_ += chunk.size();

  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  for (KeyEntry* entry : entries_) {
    if (RowList::At(entry->row()).empty()) rows_.Erase(entry);
  }
  charge_.Set(rows_.bytes());
  return Progress::kDone;
}

Result<Progress> Materialize::OnWatermark(const Watermark& watermark, Output& out) {
  watermark_ = watermark;
  rows_.Expire(watermark);
  return Progress::kDone;
}

}  // namespace caudal
