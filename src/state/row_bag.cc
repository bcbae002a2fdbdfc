#include "state/row_bag.h"

#include <algorithm>

#include "data/row_key.h"
#include "state/record.h"

namespace caudal {
namespace {

constexpr size_t kShort = 32;        // rows that are searched one by one
constexpr int64_t kIndexBytes = 32;  // an entry of the index, about
constexpr std::string_view kHere = "+";
constexpr std::string_view kOwed = "-";

}  // namespace

void RowSequence::Push(std::string_view row) {
  Item item{std::make_unique<char[]>(std::max<size_t>(row.size(), 1)), static_cast<uint32_t>(row.size())};
  if (!row.empty()) std::memcpy(item.bytes.get(), row.data(), row.size());
  items_.push_back(std::move(item));
  ++live_;
  bytes_ += static_cast<int64_t>(row.size() + sizeof(Item));
  if (newest_ != nullptr) {
    Link(static_cast<uint32_t>(items_.size() - 1));
  } else if (items_.size() > kShort) {
    Close();
  }
}

void RowSequence::Link(uint32_t at) {
  const auto [found, inserted] = newest_->try_emplace(RowKeys::Hash(View(items_[at])), at);
  items_[at].before = inserted ? kNone : found->second;
  found->second = at;
  bytes_ += kIndexBytes;
}

uint32_t RowSequence::Find(std::string_view row, uint64_t hash, uint32_t* behind) const {
  *behind = kNone;
  if (newest_ == nullptr) {
    for (size_t i = items_.size(); i-- > 0;) {
      if (items_[i].bytes != nullptr && View(items_[i]) == row) return static_cast<uint32_t>(i);
    }
    return kNone;
  }
  const auto found = newest_->find(hash);
  uint32_t at = found == newest_->end() ? kNone : found->second;
  while (at != kNone && View(items_[at]) != row) {
    *behind = at;
    at = items_[at].before;
  }
  return at;
}

bool RowSequence::Remove(std::string_view row) {
  const uint64_t hash = newest_ != nullptr ? RowKeys::Hash(row) : 0;
  uint32_t behind;
  const uint32_t at = Find(row, hash, &behind);
  if (at == kNone) return false;
  Item& item = items_[at];
  if (newest_ != nullptr) {
    bytes_ -= kIndexBytes;
    if (behind != kNone) {
      items_[behind].before = item.before;
    } else if (item.before != kNone) {
      (*newest_)[hash] = item.before;
    } else {
      newest_->erase(hash);
    }
  }
  bytes_ -= static_cast<int64_t>(item.size + sizeof(Item));
  item.bytes = nullptr;
  --live_;
  while (!items_.empty() && items_.back().bytes == nullptr) items_.pop_back();
  if (items_.size() > kShort && static_cast<size_t>(live_) * 2 < items_.size()) Close();
  return true;
}

void RowSequence::Close() {
  std::erase_if(items_, [](const Item& item) { return item.bytes == nullptr; });
  if (newest_ != nullptr) bytes_ -= kIndexBytes * live_;
  newest_ = nullptr;
  if (items_.size() <= kShort) return;
  newest_ = std::make_unique<std::unordered_map<uint64_t, uint32_t>>();
  for (size_t i = 0; i < items_.size(); ++i) Link(static_cast<uint32_t>(i));
}

void RowBagCodec::Encode(const char* row, std::string* out) const {
  const RowBag& bag = RowBag::At(const_cast<char*>(row));
  PutVarint(static_cast<uint64_t>(bag.here.size() + bag.owed.size()), out);
  const auto put = [out](std::string_view sign) {
    return [out, sign](std::string_view value) {
      PutBytes(sign, out);
      PutBytes(value, out);
    };
  };
  bag.here.ForEach(put(kHere));
  bag.owed.ForEach(put(kOwed));
}

Status RowBagCodec::Decode(std::string_view* in, char* row) const {
  RecordReader reader(*in);
  RowBag& bag = RowBag::At(row);
  for (uint64_t left = reader.Varint(); left > 0; --left) {
    const std::string_view sign = reader.Bytes();
    const std::string_view value = reader.Bytes();
    if (!reader.ok() || (sign != kHere && sign != kOwed))
      return Status::Data("a saved list of rows is damaged");
    (sign == kHere ? bag.here : bag.owed).Push(value);
  }
  if (!reader.ok()) return Status::Data("a saved list of rows is damaged");
  *in = reader.rest();
  return Status();
}

}  // namespace caudal
