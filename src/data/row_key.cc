#include "data/row_key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "data/column_builder.h"
#include "data/column_view.h"
#include "data/int128.h"
#include "data/uuid_text.h"

namespace caudal {
namespace {

constexpr char kNullTag = 0;
constexpr char kValueTag = 1;
constexpr char kUuidTag = 2;
// A list is its values, each behind kMore, then kNoMore.
constexpr char kNoMore = 0;
constexpr char kMore = 1;

uint64_t ToBigEndian(uint64_t v) { return __builtin_bswap64(v); }
uint32_t ToBigEndian(uint32_t v) { return __builtin_bswap32(v); }
uint16_t ToBigEndian(uint16_t v) { return __builtin_bswap16(v); }
uint8_t ToBigEndian(uint8_t v) { return v; }

// Signed integers as unsigned ones of the same order.
template <typename U>
U TurnSign(U value) {
  return static_cast<U>(value ^ (U{1} << (sizeof(U) * 8 - 1)));
}

// Floating point as unsigned integers of the same order: negative numbers with all bits turned.
template <typename F, typename U>
U FloatOrder(F value) {
  if (value == 0) value = 0;  // −0.0
  if (std::isnan(value)) value = std::numeric_limits<F>::quiet_NaN();
  const U bits = std::bit_cast<U>(value);
  const U sign = U{1} << (sizeof(U) * 8 - 1);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

template <typename F, typename U>
F FloatFromOrder(U bits) {
  const U sign = U{1} << (sizeof(U) * 8 - 1);
  return std::bit_cast<F>((bits & sign) != 0 ? bits & ~sign : ~bits);
}

template <typename U>
char* PutUnsigned(char* at, U value) {
  value = ToBigEndian(value);
  std::memcpy(at, &value, sizeof(U));
  return at + sizeof(U);
}

template <typename U>
U TakeUnsigned(std::string_view* key) {
  U value;
  std::memcpy(&value, key->data(), sizeof(U));
  key->remove_prefix(sizeof(U));
  return ToBigEndian(value);
}

char* PutString(char* at, std::string_view text, bool may_be_uuid) {
  if (may_be_uuid && ParseUuid(text, at + 1)) {
    *at = kUuidTag;
    return at + 1 + kUuidBytes;
  }
  *at++ = kValueTag;
  while (!text.empty()) {
    const void* zero = std::memchr(text.data(), 0, text.size());
    const size_t plain =
        zero == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(zero) - text.data());
    std::memcpy(at, text.data(), plain);
    at += plain;
    text.remove_prefix(plain);
    if (zero != nullptr) {
      *at++ = 0;
      *at++ = static_cast<char>(0xff);
      text.remove_prefix(1);
    }
  }
  *at++ = 0;
  *at++ = 0;
  return at;
}

// One key column, ready to be read row by row.
struct KeyColumn {
  explicit KeyColumn(const Column& from)
      : column(&from),
        physical(from.type().physical()),
        nested(!from.type().children().empty()),
        constant(from.encoding() == Encoding::kConstant),
        nulls(from.may_have_nulls()) {
    may_be_uuid = from.type().is_string();
    if (physical == Physical::kString) {
      dictionary = from.encoding() == Encoding::kDictionary;
      strings = dictionary ? from.dictionary()->values() : from.values<StringView>();
    } else if (physical != Physical::kRow && physical != Physical::kNull) {
      values = from.values_buffer()->data();
    }
  }

  StringView string(int32_t row) const {
    return strings[dictionary ? column->codes()[row] : constant ? 0 : row];
  }
  template <typename T>
  T value(int32_t row) const {
    return reinterpret_cast<const T*>(values)[constant ? 0 : row];
  }
  // The column's own strings, a row each; null: it has none.
  const StringView* plain_strings() const { return dictionary || constant ? nullptr : strings; }
  // The most bytes that row's value can take, unless it is nested.
  size_t Bound(int32_t row) const {
    return physical == Physical::kString ? 2 * size_t{string(row).size()} + 32 : 32;
  }

  const Column* column;
  Physical physical;
  bool nested;
  bool constant;
  bool nulls;
  bool may_be_uuid = false;
  bool dictionary = false;
  const char* values = nullptr;
  const StringView* strings = nullptr;
};

// A string of up to 12 bytes without a zero byte: both copies are of a fixed size. False if it is another.
// REQUIRES: 32 bytes at `at`.
inline bool PutShortString(char** at, const StringView& text) {
  const uint32_t size = text.size();
  if (size > StringView::kInline) return false;
  uint64_t head;
  uint32_t tail;
  std::memcpy(&head, text.data(), sizeof(head));
  std::memcpy(&tail, text.data() + sizeof(head), sizeof(tail));
  // Bytes beyond the text are zero and the only ones that may be.
  const uint64_t unused_head = size < 8 ? ~uint64_t{0} << (8 * size) : 0;
  const uint32_t unused_tail = static_cast<uint32_t>(~uint64_t{0} << (size < 8 ? 0 : 8 * (size - 8)));
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t a = head | unused_head;
  const uint64_t b = tail | unused_tail | uint64_t{0xffffffff} << 32;
  if (((((a - kOnes) & ~a) | ((b - kOnes) & ~b)) & kOnes << 7) != 0) return false;
  char* to = *at;
  *to = kValueTag;
  std::memcpy(to + 1, &head, sizeof(head));
  std::memcpy(to + 9, &tail, sizeof(tail));
  std::memset(to + 1 + size, 0, 2);
  *at = to + 1 + size + 2;
  return true;
}

// Writes a value that is not nested. REQUIRES: Bound(row) bytes at `at`.
char* PutFlat(const KeyColumn& column, int32_t row, char* at) {
  if (column.nulls && column.column->IsNull(row)) {
    *at = kNullTag;
    return at + 1;
  }
  if (column.physical == Physical::kString) {
    const StringView text = column.string(row);
    if (PutShortString(&at, text)) return at;
    return PutString(at, text.view(), column.may_be_uuid);
  }
  *at++ = kValueTag;
  switch (column.physical) {
    case Physical::kBool:
      *at++ = static_cast<char>(column.value<uint8_t>(row));
      return at;
    case Physical::kInt8:
      return PutUnsigned(at, TurnSign(column.value<uint8_t>(row)));
    case Physical::kInt16:
      return PutUnsigned(at, TurnSign(column.value<uint16_t>(row)));
    case Physical::kInt32:
      return PutUnsigned(at, TurnSign(column.value<uint32_t>(row)));
    case Physical::kInt64:
      return PutUnsigned(at, TurnSign(column.value<uint64_t>(row)));
    case Physical::kInt128: {
      const uint128_t value = column.value<uint128_t>(row);
      at = PutUnsigned(at, TurnSign(static_cast<uint64_t>(value >> 64)));
      return PutUnsigned(at, static_cast<uint64_t>(value));
    }
    case Physical::kFloat:
      return PutUnsigned(at, FloatOrder<float, uint32_t>(column.value<float>(row)));
    case Physical::kDouble:
      return PutUnsigned(at, FloatOrder<double, uint64_t>(column.value<double>(row)));
    default:
      at[-1] = kNullTag;  // the NULL type
      return at;
  }
}

void AppendNested(const Column& column, int32_t row, std::string* key);

// MAP entries by key, so that equal maps have equal bytes whatever the order of their entries.
void AppendMap(const Column& column, int32_t first, int32_t last, std::string* key) {
  std::vector<std::string> entries;
  for (int32_t i = first; i < last; ++i) {
    std::string& entry = entries.emplace_back();
    AppendKeyValue(*column.children()[0], i, &entry);
    AppendKeyValue(*column.children()[1], i, &entry);
  }
  std::sort(entries.begin(), entries.end());
  for (const std::string& entry : entries) key->append(1, kMore).append(entry);
  key->push_back(kNoMore);
}

void AppendNested(const Column& column, int32_t row, std::string* key) {
  if (column.IsNull(row)) {
    key->push_back(kNullTag);
    return;
  }
  key->push_back(kValueTag);
  const int32_t at = column.encoding() == Encoding::kConstant ? 0 : row;
  if (column.type().physical() == Physical::kRow) {
    for (const ColumnPtr& child : column.children()) AppendKeyValue(*child, at, key);
    return;
  }
  const int32_t* offsets = column.values<int32_t>();
  if (column.type().physical() == Physical::kMap) return AppendMap(column, offsets[at], offsets[at + 1], key);
  for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    key->push_back(kMore);
    AppendKeyValue(*column.children()[0], i, key);
  }
  key->push_back(kNoMore);
}

std::string_view TakeString(std::string_view* key, std::string* unescaped) {
  const size_t zero = key->find('\0');
  if ((*key)[zero + 1] == 0) {  // the usual case: no escape, so the text stands in the key itself
    const std::string_view text = key->substr(0, zero);
    key->remove_prefix(zero + 2);
    return text;
  }
  while (true) {
    const size_t at = key->find('\0');
    unescaped->append(key->substr(0, at));
    const bool end = (*key)[at + 1] == 0;
    key->remove_prefix(at + 2);
    if (end) return *unescaped;
    unescaped->push_back('\0');
  }
}

void DecodeList(std::string_view* key, bool map, ColumnBuilder* builder) {
  while (key->front() == kMore) {
    key->remove_prefix(1);
    DecodeKeyValue(key, &builder->child(0));
    if (map) DecodeKeyValue(key, &builder->child(1));
  }
  key->remove_prefix(1);
  builder->AppendList();
}

}  // namespace

uint64_t RowKeys::Hash(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

static void AppendValueTo(std::string* key, const Column& column, int32_t row, bool short_uuid) {
  KeyColumn reader(column);
  if (reader.nested) return AppendNested(column, row, key);
  reader.may_be_uuid = reader.may_be_uuid && short_uuid;
  const size_t size = key->size();
  key->resize(size + reader.Bound(row));
  key->resize(static_cast<size_t>(PutFlat(reader, row, key->data() + size) - key->data()));
}

void AppendKeyValue(const Column& column, int32_t row, std::string* key) {
  AppendValueTo(key, column, row, true);
}

void AppendOrderedValue(const Column& column, int32_t row, std::string* key) {
  AppendValueTo(key, column, row, false);
}

void RowKeys::Encode(const Chunk& chunk, const std::vector<int>& key_columns, RowSet rows) {
  std::vector<KeyColumn> columns;
  columns.reserve(key_columns.size());
  for (int column : key_columns) columns.emplace_back(*chunk.column(column));

  const size_t count = static_cast<size_t>(rows.count);
  starts_.resize(count + 1);
  hashes_.resize(count);
  std::string nested;
  size_t used = 0;
  // Texts that another thread decoded are in a cache further off.
  constexpr size_t kAhead = 12;
  const StringView* ahead = columns.empty() ? nullptr : columns[0].plain_strings();
  for (size_t i = 0; i < count; ++i) {
    const int32_t row = rows[static_cast<int32_t>(i)];
    if (i + kAhead < count && ahead != nullptr) {
      __builtin_prefetch(ahead[rows[static_cast<int32_t>(i + kAhead)]].data());
    }
    starts_[i] = static_cast<uint32_t>(used);
    for (const KeyColumn& column : columns) {
      size_t bound;
      if (column.nested) {
        nested.clear();
        AppendNested(*column.column, row, &nested);
        bound = nested.size();
      } else {
        bound = column.Bound(row);
      }
      if (used + bound > bytes_.size()) bytes_.resize(std::max(used + bound, bytes_.size() * 2));
      char* at = bytes_.data() + used;
      if (column.nested) {
        std::memcpy(at, nested.data(), nested.size());
        used += nested.size();
      } else {
        used += static_cast<size_t>(PutFlat(column, row, at) - at);
      }
    }
    hashes_[i] = Hash({bytes_.data() + starts_[i], used - starts_[i]});
  }
  starts_[count] = static_cast<uint32_t>(used);
}

void DecodeKeyValue(std::string_view* key, ColumnBuilder* builder) {
  const char tag = key->front();
  key->remove_prefix(1);
  if (tag == kNullTag) return builder->AppendNull();
  if (tag == kUuidTag) {
    char text[kUuidText];
    FormatUuid(key->data(), text);
    key->remove_prefix(kUuidBytes);
    return builder->AppendString({text, kUuidText});
  }
  switch (builder->type().physical()) {
    case Physical::kBool:
      return builder->Append(TakeUnsigned<uint8_t>(key));
    case Physical::kInt8:
      return builder->Append(TurnSign(TakeUnsigned<uint8_t>(key)));
    case Physical::kInt16:
      return builder->Append(TurnSign(TakeUnsigned<uint16_t>(key)));
    case Physical::kInt32:
      return builder->Append(TurnSign(TakeUnsigned<uint32_t>(key)));
    case Physical::kInt64:
      return builder->Append(TurnSign(TakeUnsigned<uint64_t>(key)));
    case Physical::kInt128: {
      const uint64_t high = TurnSign(TakeUnsigned<uint64_t>(key));
      return builder->Append(static_cast<uint128_t>(high) << 64 | TakeUnsigned<uint64_t>(key));
    }
    case Physical::kFloat:
      return builder->Append(FloatFromOrder<float>(TakeUnsigned<uint32_t>(key)));
    case Physical::kDouble:
      return builder->Append(FloatFromOrder<double>(TakeUnsigned<uint64_t>(key)));
    case Physical::kString: {
      std::string unescaped;
      return builder->AppendString(TakeString(key, &unescaped));
    }
    case Physical::kRow:
      for (size_t i = 0; i < builder->type().children().size(); ++i) {
        DecodeKeyValue(key, &builder->child(static_cast<int>(i)));
      }
      return builder->AppendStruct();
    case Physical::kArray:
    case Physical::kMap:
      return DecodeList(key, builder->type().physical() == Physical::kMap, builder);
    case Physical::kNull:
      return builder->AppendNull();
  }
}

void DecodeKey(std::string_view key, const std::vector<Type>& types, std::vector<ColumnBuilder>* builders) {
  for (size_t i = 0; i < types.size(); ++i) DecodeKeyValue(&key, &(*builders)[i]);
}

}  // namespace caudal
