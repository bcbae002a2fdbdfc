#include "format/parquet/parquet_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/column_view.h"
#include "data/int128.h"

namespace caudal {
namespace {

constexpr int32_t kMaxCodes =
    64 * 1024;                     // more distinct values than that are better off without a dictionary
constexpr int64_t kLeastUses = 4;  // of a value, on the average

}  // namespace

ParquetStore::ParquetStore(Type type) : type_(std::move(type)), coded_(type_.is_string()) {}

void ParquetStore::Append(const Column& column, RowSet rows) {
  if (type_.nullable()) AppendLevels(column, rows);
  switch (type_.physical()) {
    case Physical::kBool:
      AppendFixed<uint8_t, uint8_t>(column, rows);
      break;
    case Physical::kInt8:
      AppendFixed<int8_t, int32_t>(column, rows);
      break;
    case Physical::kInt16:
      AppendFixed<int16_t, int32_t>(column, rows);
      break;
    case Physical::kInt32:
      AppendFixed<int32_t, int32_t>(column, rows);
      break;
    case Physical::kInt64:
      AppendFixed<int64_t, int64_t>(column, rows);
      break;
    case Physical::kFloat:
      AppendFloating<float>(column, rows);
      break;
    case Physical::kDouble:
      AppendFloating<double>(column, rows);
      break;
    case Physical::kInt128:
      AppendWide(column, rows);
      break;
    case Physical::kString:
      AppendStrings(column, rows);
      break;
    default:
      break;  // refused when the writer was made
  }
  rows_ += rows.count;
}

void ParquetStore::Clear() {
  rows_ = nulls_ = nans_ = 0;
  levels_.clear();
  values_.clear();
  coded_ = type_.is_string();
  codes_.clear();
  offsets_.resize(1);
  text_.clear();
  dictionary_offsets_.resize(1);
  dictionary_text_.clear();
  code_of_.clear();
  known_.clear();
}

void ParquetStore::AppendLevels(const Column& column, RowSet rows) {
  const size_t begin = levels_.size();
  levels_.resize(begin + static_cast<size_t>(rows.count), 1);
  if (!column.may_have_nulls()) return;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (!column.IsNull(rows[i])) continue;
    levels_[begin + static_cast<size_t>(i)] = 0;
    ++nulls_;
  }
}

template <typename From, typename To>
void ParquetStore::AppendFixed(const Column& column, RowSet rows) {
  const ColumnView<From> view(column);
  const size_t begin = values_.size();
  values_.resize(begin + static_cast<size_t>(rows.count) * sizeof(To));
  To* to = reinterpret_cast<To*>(values_.data() + begin);
  if (!view.may_have_nulls()) {
    for (int32_t i = 0; i < rows.count; ++i) *to++ = static_cast<To>(view[rows[i]]);
    return;
  }
  for (int32_t i = 0; i < rows.count; ++i) {
    if (!view.IsNull(rows[i])) *to++ = static_cast<To>(view[rows[i]]);
  }
  values_.resize(static_cast<size_t>(reinterpret_cast<char*>(to) - values_.data()));
}

template <typename T>
void ParquetStore::AppendFloating(const Column& column, RowSet rows) {
  const size_t begin = values_.size() / sizeof(T);
  AppendFixed<T, T>(column, rows);
  const T* values = reinterpret_cast<const T*>(values_.data());
  const size_t end = values_.size() / sizeof(T);
  for (size_t i = begin; i < end; ++i) nans_ += std::isnan(values[i]);
}

void ParquetStore::AppendWide(const Column& column, RowSet rows) {
  const ColumnView<int128_t> view(column);
  for (int32_t i = 0; i < rows.count; ++i) {
    if (view.IsNull(rows[i])) continue;
    const uint128_t value = static_cast<uint128_t>(view[rows[i]]);
    char bytes[16];
    for (int byte = 0; byte < 16; ++byte) bytes[byte] = static_cast<char>(value >> (120 - 8 * byte));
    values_.insert(values_.end(), bytes, bytes + 16);
  }
}

void ParquetStore::AppendStrings(const Column& column, RowSet rows) {
  if (coded_ && column.encoding() == Encoding::kFlat) GiveUpCodes();
  if (coded_) {
    AppendCodes(column, rows);
    if (static_cast<int32_t>(dictionary_offsets_.size()) > kMaxCodes) GiveUpCodes();
    return;
  }
  const ColumnView<StringView> view(column);
  const size_t first = offsets_.size(), begin = text_.size();
  offsets_.resize(first + static_cast<size_t>(rows.count));
  size_t end = begin;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (!view.IsNull(rows[i])) {
      end += view[rows[i]].size();
      // Another thread read the text last: it comes from a cache further off.
      __builtin_prefetch(view[rows[i]].data());
    }
    offsets_[first + static_cast<size_t>(i)] = static_cast<int32_t>(end);
  }
  text_.resize(end);
  char* to = text_.data() + begin;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (!view.IsNull(rows[i])) to = std::copy_n(view[rows[i]].data(), view[rows[i]].size(), to);
  }
}

void ParquetStore::AppendCodes(const Column& column, RowSet rows) {
  const size_t begin = codes_.size();
  codes_.resize(begin + static_cast<size_t>(rows.count), 0);
  if (column.encoding() == Encoding::kConstant) {
    if (column.IsNull(0)) return;
    const int32_t code = CodeOf(column.values<StringView>()[0].view());
    std::fill(codes_.begin() + static_cast<ptrdiff_t>(begin), codes_.end(), code);
    return;
  }
  Codes& known = known_[column.dictionary()];
  if (known.size() < static_cast<size_t>(column.visible())) {
    known.resize(static_cast<size_t>(column.visible()), -1);
  }
  const int32_t* codes = column.codes();
  const StringView* names = column.dictionary()->values();
  const bool nulls = column.may_have_nulls();
  int32_t* to = codes_.data() + begin;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (nulls && column.IsNull(rows[i])) continue;
    const int32_t code = codes[rows[i]];
    int32_t& own = known[static_cast<size_t>(code)];
    if (own < 0) own = CodeOf(names[code].view());
    to[i] = own;
  }
}

int32_t ParquetStore::CodeOf(std::string_view text) {
  const auto [found, added] =
      code_of_.emplace(std::string(text), static_cast<int32_t>(dictionary_offsets_.size()) - 1);
  if (added) {
    dictionary_text_.append(text);
    dictionary_offsets_.push_back(static_cast<int32_t>(dictionary_text_.size()));
  }
  return found->second;
}

void ParquetStore::GiveUpManyCodes(size_t most) {
  const int64_t values = static_cast<int64_t>(dictionary_offsets_.size()) - 1;
  if (!coded_ || values * kLeastUses <= rows_) return;
  size_t text = 0;
  for (size_t row = 0; row < codes_.size() && text <= most; ++row) {
    const bool null = !levels_.empty() && levels_[row] == 0;
    const auto code = static_cast<size_t>(codes_[row]);
    if (!null) text += static_cast<size_t>(dictionary_offsets_[code + 1] - dictionary_offsets_[code]);
  }
  if (text <= most) GiveUpCodes();
}

void ParquetStore::GiveUpCodes() {
  if (!coded_) return;
  coded_ = false;
  for (size_t row = 0; row < codes_.size(); ++row) {
    const bool null = !levels_.empty() && levels_[row] == 0;
    if (!null) {
      const size_t code = static_cast<size_t>(codes_[row]);
      const size_t from = static_cast<size_t>(dictionary_offsets_[code]);
      text_.append(dictionary_text_, from, static_cast<size_t>(dictionary_offsets_[code + 1]) - from);
    }
    offsets_.push_back(static_cast<int32_t>(text_.size()));
  }
  codes_.clear();
  known_.clear();
  code_of_.clear();
}

size_t ParquetStore::bytes() const {
  return levels_.capacity() * sizeof(int16_t) + values_.capacity() + codes_.capacity() * sizeof(int32_t) +
         offsets_.capacity() * sizeof(int32_t) + text_.capacity() + dictionary_text_.capacity();
}

size_t ParquetStore::used_bytes() const {
  return levels_.size() * sizeof(int16_t) + values_.size() + codes_.size() * sizeof(int32_t) +
         offsets_.size() * sizeof(int32_t) + text_.size() + dictionary_text_.size();
}

std::vector<uint8_t> ParquetStore::Validity() const {
  std::vector<uint8_t> bits;
  if (nulls_ == 0) return bits;
  bits.resize((levels_.size() + 7) / 8, 0);
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] != 0) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1u << (i % 8));
  }
  return bits;
}

}  // namespace caudal
