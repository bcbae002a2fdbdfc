#include "connect/iceberg/upsert/key_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/json_encoder.h"

namespace caudal {

using iceberg::KeyHash;

size_t KeyFilter::KeySet::PlaceOf(const KeyHash& key) const {
  const size_t mask = slots_.size() - 1;
  size_t at = key.low & mask;
  while (slots_[at] != KeyHash() && slots_[at] != key) at = (at + 1) & mask;
  return at;
}

bool KeyFilter::KeySet::Contains(const KeyHash& key) const {
  return !slots_.empty() && slots_[PlaceOf(key)] == key;
}

bool KeyFilter::KeySet::Add(const KeyHash& key) {
  if (2 * (used_ + 1) > slots_.size()) {
    std::vector<KeyHash> former(std::max<size_t>(1024, 2 * slots_.size()));
    former.swap(slots_);
    for (const KeyHash& one : former) {
      if (one != KeyHash()) slots_[PlaceOf(one)] = one;
    }
  }
  KeyHash& slot = slots_[PlaceOf(key)];
  if (slot == key) return false;
  slot = key;
  ++used_;
  return true;
}

bool KeyFilter::OnItsWay(const KeyHash& key) const {
  return std::any_of(sealed_.begin(), sealed_.end(),
                     [&](const SealedKeys& sealed) { return sealed.keys.Contains(key); });
}

Result<Chunk> KeyFilter::Keep(const Chunk& chunk) {
  const RowSet rows = chunk.rows();
  row_keys_.Encode(chunk, plan_->key, rows);
  // Before the index is asked: what it has since is forgotten here.
  const Epoch committed = keys_->committed();
  while (!sealed_.empty() && sealed_.front().epoch <= committed) sealed_.pop_front();
  std::vector<bool> kept(static_cast<size_t>(rows.count), false);
  std::vector<std::pair<KeyHash, int32_t>> asked;
  for (int32_t i = 0; i < rows.count; ++i) {
    const KeyHash key = iceberg::HashKey(row_keys_.key(i), plan_->key_seed);
    if (now_.Contains(key) || OnItsWay(key)) continue;
    asked.emplace_back(key, i);
  }
  std::sort(asked.begin(), asked.end());
  std::vector<KeyHash> wanted;
  for (const auto& [key, row] : asked) wanted.push_back(key);
  std::vector<bool> there(wanted.size(), false);
  const auto mark = [&](size_t number, const std::string&, uint32_t) { there[number] = true; };
  Status found = keys_->Find(wanted, mark);
  if (!found.ok() && found.domain() == Domain::kData) {
    // The index is damaged, the table is not.
    RETURN_IF_ERROR(keys_->MakeAnewAtHead());
    there.assign(wanted.size(), false);
    found = keys_->Find(wanted, mark);
  }
  RETURN_IF_ERROR(found);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!there[i] && now_.Add(asked[i].first)) kept[static_cast<size_t>(asked[i].second)] = true;
  }
  auto selection = std::make_unique<Selection>();
  for (int32_t i = 0; i < rows.count; ++i) {
    if (kept[static_cast<size_t>(i)]) {
      selection->rows.push_back(static_cast<uint16_t>(rows[i]));
    } else if (plan_->options.unique == IcebergUnique::kFail) {
      return Refuse(chunk, rows[i]);
    }
  }
  return chunk.WithSelection(SelectionPtr(std::move(selection)));
}

Status KeyFilter::Refuse(const Chunk& chunk, int32_t row) const {
  Schema schema;
  std::vector<ColumnPtr> columns;
  for (const int column : plan_->key) {
    schema.fields.push_back(plan_->rows[column]);
    columns.push_back(chunk.column(column));
  }
  auto one = std::make_unique<Selection>();
  one->rows.push_back(static_cast<uint16_t>(row));
  const Chunk key(std::move(columns), chunk.physical_rows(), SelectionPtr(std::move(one)));
  ASSIGN_OR_RETURN(const auto encoder, JsonEncoder::Make(schema, JsonOptions()));
  std::string text;
  std::vector<size_t> ends;
  RETURN_IF_ERROR(encoder->Encode(key, &text, &ends));
  while (text.ends_with('\n')) text.pop_back();
  return Status::Data(fmt::format("the table has a row of the key {} already", text))
      .Hint(
          "'caudal.unique' = 'fail' stops here: 'ignore' leaves such rows out, 'upsert' replaces the former");
}

void KeyFilter::Seal(Epoch epoch) { sealed_.push_back({epoch, std::exchange(now_, KeySet())}); }

}  // namespace caudal
