// RowList: an ordered list of stored rows under one key, each with the bytes it is ordered by; and its codec,
// with which KeyedRows becomes "ordered lists by key".
//
// Each row is one block of its own. A long list that changes in the middle is kept in a BlockList. A list
// lives in the row of a KeyEntry; At() reads it there. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/block_list.h"
#include "state/record.h"
#include "state/row_codec.h"

namespace caudal {

class RowList {
 public:
  // The list in a row made by RowListCodec.
  static RowList& At(char* row) {
    RowList* list;
    std::memcpy(&list, row, sizeof(list));
    return *list;
  }

  int64_t size() const { return long_ ? long_->size() : static_cast<int64_t>(items_.size()); }
  bool empty() const { return size() == 0; }
  // Valid until the item is removed.
  std::string_view order(int64_t i) const { return {item(i).bytes.get(), item(i).order_size}; }
  std::string_view row(int64_t i) const {
    return {item(i).bytes.get() + item(i).order_size, item(i).row_size};
  }

  void Insert(int64_t at, std::string_view order, std::string_view row) {
    Item made{std::make_unique<char[]>(order.size() + row.size()), static_cast<uint32_t>(order.size()),
              static_cast<uint32_t>(row.size())};
    if (!order.empty()) std::memcpy(made.bytes.get(), order.data(), order.size());
    if (!row.empty()) std::memcpy(made.bytes.get() + order.size(), row.data(), row.size());
    bytes_ += static_cast<int64_t>(order.size() + row.size() + sizeof(Item));
    if (at < size()) LengthenIfMany();
    if (long_) return long_->Insert(at, std::move(made));
    items_.insert(items_.begin() + at, std::move(made));
  }
  void Remove(int64_t at) {
    bytes_ -= static_cast<int64_t>(order(at).size() + row(at).size() + sizeof(Item));
    if (at + 1 < size()) LengthenIfMany();
    if (long_) return long_->Remove(at);
    items_.erase(items_.begin() + at);
  }

  // By order; equal ones stay as they stand.
  void Sort() {
    if (long_) items_ = std::exchange(long_, nullptr)->Release();
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return OrderOf(a) < OrderOf(b); });
  }
  void Truncate(int64_t size) {
    while (this->size() > size) Remove(this->size() - 1);
  }

  // The first place whose order is not before, or is behind, the given one. REQUIRES: ascending orders.
  int64_t LowerBound(std::string_view order) const { return Bound(order, false); }
  int64_t UpperBound(std::string_view order) const { return Bound(order, true); }
  // The place of such an item; -1 if there is none. REQUIRES: ascending orders.
  int64_t Find(std::string_view order, std::string_view row) const {
    for (int64_t i = LowerBound(order); i < size() && this->order(i) == order; ++i) {
      if (this->row(i) == row) return i;
    }
    return -1;
  }
  int64_t bytes() const { return bytes_; }

 private:
  struct Item {
    std::unique_ptr<char[]> bytes;
    uint32_t order_size;
    uint32_t row_size;
  };
  static std::string_view OrderOf(const Item& item) { return {item.bytes.get(), item.order_size}; }
  const Item& item(int64_t i) const { return long_ ? (*long_)[i] : items_[static_cast<size_t>(i)]; }
  void LengthenIfMany() {
    if (items_.size() >= BlockList<Item>::kMost)
      long_ = std::make_unique<BlockList<Item>>(std::exchange(items_, {}));
  }
  int64_t Bound(std::string_view order, bool behind) const {
    const auto before = [&](const Item& item) {
      const int compared = OrderOf(item).compare(order);
      return compared < 0 || (behind && compared == 0);
    };
    if (long_) return long_->Bound(before);
    return std::partition_point(items_.begin(), items_.end(), before) - items_.begin();
  }

  std::vector<Item> items_;                // unless long_
  std::unique_ptr<BlockList<Item>> long_;  // null until a long list changes in the middle
  int64_t bytes_ = 0;
};

class RowListCodec : public RowCodec {
 public:
  // `words`: what orders and rows are, for the fingerprint.
  explicit RowListCodec(std::string words) : words_(std::move(words)) {}

  size_t width() const override { return sizeof(RowList*); }
  void Init(char* row) const override {
    RowList* list = new RowList();
    std::memcpy(row, &list, sizeof(list));
  }
  void Destroy(char* row) const override { delete &RowList::At(row); }
  int64_t ExtraBytes(const char* row) const override {
    return RowList::At(const_cast<char*>(row)).bytes() + static_cast<int64_t>(sizeof(RowList));
  }
  void Encode(const char* row, std::string* out) const override {
    const RowList& list = RowList::At(const_cast<char*>(row));
    PutVarint(static_cast<uint64_t>(list.size()), out);
    for (int64_t i = 0; i < list.size(); ++i) {
      PutBytes(list.order(i), out);
      PutBytes(list.row(i), out);
    }
  }
  Status Decode(std::string_view* in, char* row) const override {
    RecordReader reader(*in);
    RowList& list = RowList::At(row);
    for (uint64_t left = reader.Varint(); left > 0; --left) {
      const std::string_view order = reader.Bytes();
      const std::string_view value = reader.Bytes();
      if (!reader.ok()) break;
      list.Insert(list.size(), order, value);
    }
    if (!reader.ok()) return Status::Data("a saved list of rows is damaged");
    *in = reader.rest();
    return Status();
  }
  std::string Fingerprint() const override { return "lists(" + words_ + ")"; }

 private:
  std::string words_;
};

}  // namespace caudal
