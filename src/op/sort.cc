#include "op/sort.h"

#include <algorithm>

namespace caudal {
namespace {

constexpr int64_t kSlack = 8192;  // rows beyond the limit that are kept before they are pruned

}  // namespace

Sort::Sort(SortNode node, const Schema& input, const Schema& output)
    : node_(std::move(node)),
      layout_(input, output),
      codec_(layout_.words()),
      rows_("rows", "", &codec_),
      changes_(output) {}

Status Sort::Open(const OperatorContext& context) {
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "Sort");
  return Status();
}

Status Sort::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  emitted_ = watermark.event == Watermark::kEnd;
  charge_.Set(rows_.bytes());
  return Status();
}

void Sort::Prune(RowList& list) const {
  const int64_t wanted = node_.offset + node_.limit;
  if (node_.limit < 0 || list.size() < wanted + kSlack) return;
  list.Sort();
  list.Truncate(wanted);
}

Result<Progress> Sort::OnChunk(int port, const Chunk& chunk, Output& out) {
  KeyEntry* entry = Entry();
  RowList& list = RowList::At(entry->row());
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const int32_t row = chunk.rows()[i];
    if (!IsAdd(chunk.kind(row)))
      return Status::Internal("ORDER BY of an updated input is not planned as a sort");
    order_.clear();
    row_.clear();
    AppendSortKey(node_.keys, chunk, row, &order_);
    layout_.AppendRow(chunk, row, &row_);
    list.Insert(list.size(), order_, row_);
  }
  Prune(list);
  rows_.Touch(entry);
  *absorbed_ += chunk.size();
  charge_.Set(rows_.bytes() + list.bytes());
  return Progress::kDone;
}

Result<Progress> Sort::OnWatermark(const Watermark& watermark, Output& out) {
  if (watermark.event != Watermark::kEnd || emitted_) {
    watermark_ = watermark;
    return Progress::kDone;
  }
  return Resume(out);
}

Result<Progress> Sort::Resume(Output& out) {
  KeyEntry* entry = Entry();
  RowList& list = RowList::At(entry->row());
  if (next_ < 0) {
    list.Sort();
    next_ = node_.offset;
  }
  const int64_t end = node_.limit < 0 ? list.size() : std::min(list.size(), node_.offset + node_.limit);
  while (next_ < end) {
    if (out.full()) return Progress::kMore;
    for (; next_ < end && changes_.size() < ChangeBuilder::kMost; ++next_) {
      layout_.Decode(list.row(next_), changes_.columns());
      changes_.Close(RowKind::kInsert, 0);
    }
    changes_.Emit(watermark_.event, out);
  }
  rows_.Erase(entry);
  emitted_ = true;
  charge_.Set(rows_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
