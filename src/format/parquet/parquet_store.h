// ParquetStore: the values of one column that wait to be encoded into a row group, packed as Parquet wants
// them.
//
// One thread. Fixed-width values without the NULLs; strings as codes of a dictionary of its own while they
// come as codes, as bytes with offsets once they do not. The dictionary holds only values that occur.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/chunk.h"
#include "data/column.h"
#include "data/type.h"

namespace caudal {

class ParquetStore {
 public:
  explicit ParquetStore(Type type);

  void Append(const Column& column, RowSet rows);
  // Back to no rows; the memory stays for the next ones.
  void Clear();

  const Type& type() const { return type_; }
  int64_t rows() const { return rows_; }
  int64_t nulls() const { return nulls_; }
  int64_t nans() const { return nans_; }
  size_t bytes() const;  // of memory, also of what is kept for rows to come
  size_t used_bytes() const;
  // From now on strings are text, until Clear. The second only if hardly any value came twice, and the text
  // is no more than `most` bytes: one long value may stand in many rows.
  void GiveUpCodes();
  void GiveUpManyCodes(size_t most);
  // More text than a row group can hold: the group must not be encoded.
  bool overflown() const { return text_.size() > static_cast<size_t>(Type::kMaxLength); }

  // One a row, 1 = has a value; for nullable types.
  const std::vector<int16_t>& levels() const { return levels_; }
  // The values that are not NULL, in the width of Parquet's physical type (BOOLEAN a byte, 128-bit decimals
  // big endian).
  const std::vector<char>& values() const { return values_; }

  // Strings: coded() tells which of the two they are. A NULL has code 0, or no bytes.
  bool coded() const { return coded_; }
  const std::vector<int32_t>& codes() const { return codes_; }
  const std::vector<int32_t>& offsets() const { return offsets_; }  // rows + 1
  const std::string& text() const { return text_; }
  const std::vector<int32_t>& dictionary_offsets() const { return dictionary_offsets_; }
  const std::string& dictionary_text() const { return dictionary_text_; }
  // Arrow's bitmap: bit set = has a value. Empty if there is no NULL.
  std::vector<uint8_t> Validity() const;

 private:
  using Codes = std::vector<int32_t>;  // code in a column's dictionary → code here, -1 = not yet seen

  void AppendLevels(const Column& column, RowSet rows);
  template <typename From, typename To>
  void AppendFixed(const Column& column, RowSet rows);
  template <typename T>
  void AppendFloating(const Column& column, RowSet rows);
  void AppendWide(const Column& column, RowSet rows);
  void AppendStrings(const Column& column, RowSet rows);
  void AppendCodes(const Column& column, RowSet rows);
  int32_t CodeOf(std::string_view text);

  Type type_;
  int64_t rows_ = 0;
  int64_t nulls_ = 0;
  int64_t nans_ = 0;
  std::vector<int16_t> levels_;
  std::vector<char> values_;
  bool coded_;
  std::vector<int32_t> codes_;
  std::vector<int32_t> offsets_{0};
  std::string text_;
  std::vector<int32_t> dictionary_offsets_{0};
  std::string dictionary_text_;
  std::unordered_map<std::string, int32_t> code_of_;
  std::map<StringDictionaryPtr, Codes> known_;
};

}  // namespace caudal
