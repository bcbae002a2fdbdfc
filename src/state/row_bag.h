// RowBag: the rows of one key in the order in which they came, those that are there apart from those that are
// owed (taken away before they were added); and its codec, with which KeyedRows becomes "rows to fold by
// key".
//
// Finding one of many equal or different rows costs the same: a long bag is hashed by row. A bag lives in the
// row of a KeyEntry; At() reads it there. One thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "state/row_codec.h"

namespace caudal {

// Rows of one sign.
class RowSequence {
 public:
  void Push(std::string_view row);
  // Removes the newest of the rows equal to `row`; false if there is none.
  bool Remove(std::string_view row);
  bool empty() const { return live_ == 0; }
  int64_t size() const { return live_; }
  // Valid until it is removed. REQUIRES: !empty().
  std::string_view newest() const { return View(items_.back()); }
  int64_t bytes() const { return bytes_; }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Item& item : items_) {
      if (item.bytes != nullptr) visit(View(item));
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Item {
    std::unique_ptr<char[]> bytes;  // null: removed. The last item never is
    uint32_t size = 0;
    uint32_t before = kNone;  // with an index: the one before with the same hash
  };
  static std::string_view View(const Item& item) { return {item.bytes.get(), item.size}; }
  // The place of the newest equal row, and with an index of the item behind it with the same hash.
  uint32_t Find(std::string_view row, uint64_t hash, uint32_t* behind) const;
  void Close();  // makes the holes go, and the index anew
  void Link(uint32_t at);

  std::vector<Item> items_;
  std::unique_ptr<std::unordered_map<uint64_t, uint32_t>> newest_;  // by hash; null while short
  int64_t live_ = 0;
  int64_t bytes_ = 0;
};

class RowBag {
 public:
  // The bag in a row made by RowBagCodec.
  static RowBag& At(char* row) {
    RowBag* bag;
    std::memcpy(&bag, row, sizeof(bag));
    return *bag;
  }

  // An addition meets what is owed first.
  void Add(std::string_view row) {
    if (!owed.Remove(row)) here.Push(row);
  }
  void TakeAway(std::string_view row) {
    if (!here.Remove(row)) owed.Push(row);
  }
  bool empty() const { return here.empty() && owed.empty(); }
  int64_t bytes() const { return here.bytes() + owed.bytes(); }

  RowSequence here;
  RowSequence owed;
};

// Written as RowListCodec writes lists whose rows are ordered by "+" (here) and "-" (owed).
class RowBagCodec : public RowCodec {
 public:
  // `words`: what rows are, for the fingerprint.
  explicit RowBagCodec(std::string words) : words_(std::move(words)) {}

  size_t width() const override { return sizeof(RowBag*); }
  void Init(char* row) const override {
    RowBag* bag = new RowBag();
    std::memcpy(row, &bag, sizeof(bag));
  }
  void Destroy(char* row) const override { delete &RowBag::At(row); }
  int64_t ExtraBytes(const char* row) const override {
    return RowBag::At(const_cast<char*>(row)).bytes() + static_cast<int64_t>(sizeof(RowBag));
  }
  void Encode(const char* row, std::string* out) const override;
  Status Decode(std::string_view* in, char* row) const override;
  std::string Fingerprint() const override { return "lists(" + words_ + ")"; }

 private:
  std::string words_;
};

}  // namespace caudal
