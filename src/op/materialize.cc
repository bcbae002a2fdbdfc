#include "op/materialize.h"

#include <algorithm>

#include "op/row/key_types.h"

namespace caudal {
namespace {

constexpr int64_t kMaterializeStep = 10'000'000;  // ns
constexpr int32_t kRowsBetweenChecks = 64;        // at the time and the output

}  // namespace

Materialize::Materialize(MaterializeNode node, const Schema& input, const Schema& output, int64_t ttl)
    : node_(std::move(node)),
      layout_(input, output),
      codec_(layout_.words()),
      rows_("rows", KeyTypesText(input, node_.keys), &codec_, ttl),
      changes_(output) {}

Status Materialize::Open(const OperatorContext& context) {
  env_ = context.env;
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

void Materialize::EmitRow(RowKind kind, std::string_view row, Output& out) {
  if (changes_.size() == ChangeBuilder::kMost) changes_.Emit(watermark_.event, out);
  layout_.Decode(row, changes_.columns());
  changes_.Close(kind, 0);
}

Result<Progress> Materialize::OnChunk(int port, const Chunk& chunk, Output& out) {
  chunk_ = chunk;
  at_ = 0;
  keys_.Encode(chunk_, node_.keys, chunk_.rows());
  rows_.FindOrInsert(keys_, &entries_);
  *absorbed_ += chunk_.size();
  return Resume(out);
}

Result<Progress> Materialize::Resume(Output& out) {
  const int64_t start = env_->SteadyNanos();
  for (; at_ < chunk_.size(); ++at_) {
    if (at_ % kRowsBetweenChecks == 0 && (out.full() || env_->SteadyNanos() - start > kMaterializeStep)) {
      changes_.Emit(watermark_.event, out);
      return Progress::kMore;
    }
    const int32_t row = chunk_.rows()[at_];
    KeyEntry* entry = entries_[static_cast<size_t>(at_)];
    row_.clear();
    layout_.AppendRow(chunk_, row, &row_);
    Fold(RowBag::At(entry->row()), IsAdd(chunk_.kind(row)), out);
    rows_.Touch(entry);
  }
  changes_.Emit(watermark_.event, out);
  DropEmpty();
  chunk_ = Chunk();
  charge_.Set(rows_.bytes());
  return Progress::kDone;
}

// The sink sees the newest of the rows that are there.
void Materialize::Fold(RowBag& bag, bool add, Output& out) {
  const bool seen_before = !bag.here.empty();
  before_.assign(seen_before ? bag.here.newest() : std::string_view());
  if (add) {
    bag.Add(row_);
  } else {
    bag.TakeAway(row_);
  }
  if (bag.here.empty()) {
    if (seen_before) EmitRow(RowKind::kDelete, before_, out);
  } else if (!seen_before) {
    EmitRow(RowKind::kInsert, bag.here.newest(), out);
  } else if (bag.here.newest() != before_) {
    if (node_.update_before) EmitRow(RowKind::kUpdateBefore, before_, out);
    EmitRow(RowKind::kUpdateAfter, bag.here.newest(), out);
  }
}

void Materialize::DropEmpty() {
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  for (KeyEntry* entry : entries_) {
    if (RowBag::At(entry->row()).empty()) rows_.Erase(entry);
  }
  entries_.clear();
}

Result<Progress> Materialize::OnWatermark(const Watermark& watermark, Output& out) {
  watermark_ = watermark;
  rows_.Expire(watermark);
  charge_.Set(rows_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
