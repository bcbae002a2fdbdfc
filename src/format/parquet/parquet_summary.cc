#include "format/parquet/parquet_summary.h"

#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <cmath>
#include <cstring>

#include "data/int128.h"

namespace caudal {
namespace {

template <typename T>
T FromBytes(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
  return value;
}

// A statistic's plain encoding as a value of the column's type.
Value ValueOf(const Type& type, const std::string& bytes) {
  switch (type.physical()) {
    case Physical::kBool:
      return Value(!bytes.empty() && bytes[0] != 0);
    case Physical::kInt8:
    case Physical::kInt16:
    case Physical::kInt32:
      return Value(int64_t{FromBytes<int32_t>(bytes)});
    case Physical::kInt64:
      return Value(FromBytes<int64_t>(bytes));
    case Physical::kFloat:
      return Value(static_cast<double>(FromBytes<float>(bytes)));
    case Physical::kDouble:
      return Value(FromBytes<double>(bytes));
    case Physical::kInt128: {
      uint128_t number = 0;
      for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
      return Value(static_cast<int128_t>(number));
    }
    default:
      return Value(bytes);
  }
}

// By the order of statistics: bytes unsigned, the two zeros alike. Both of one type.
bool IsLess(const Value& a, const Value& b) {
  return std::visit(
      [&b](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, ValueList>) {
          return false;
        } else {
          return x < std::get<T>(b.data);
        }
      },
      a.data);
}

// One column over the row groups; `known` is false once one of them does not tell.
struct Range {
  bool known = true;
  std::optional<Value> lowest, highest;

  void Add(const Type& type, const parquet::ColumnChunkMetaData& chunk) {
    const std::shared_ptr<parquet::Statistics> statistics = chunk.statistics();
    if (statistics == nullptr || !statistics->HasMinMax()) {
      const bool only_nulls = statistics != nullptr && statistics->HasNullCount() &&
                              statistics->null_count() == chunk.num_values();
      known = known && only_nulls;
      return;
    }
    Value low = ValueOf(type, statistics->EncodeMin());
    Value high = ValueOf(type, statistics->EncodeMax());
    if (!lowest || IsLess(low, *lowest)) lowest = std::move(low);
    if (!highest || IsLess(*highest, high)) highest = std::move(high);
  }
};

}  // namespace

void SummarizeColumns(const parquet::FileMetaData& metadata, const Schema& schema, ParquetFooter* footer) {
  footer->rows = metadata.num_rows();
  footer->row_groups = metadata.num_row_groups();
  std::vector<Range> ranges(schema.fields.size());
  footer->columns.resize(schema.fields.size());
  for (int group = 0; group < metadata.num_row_groups(); ++group) {
    const auto rows = metadata.RowGroup(group);
    for (size_t i = 0; i < schema.fields.size(); ++i) {
      const auto chunk = rows->ColumnChunk(static_cast<int>(i));
      footer->columns[i].bytes += chunk->total_compressed_size();
      ranges[i].Add(schema.fields[i].type, *chunk);
      if (i > 0) continue;
      footer->group_offsets.push_back(chunk->has_dictionary_page() ? chunk->dictionary_page_offset()
                                                                   : chunk->data_page_offset());
    }
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].known) continue;
    footer->columns[i].lowest = std::move(ranges[i].lowest);
    footer->columns[i].highest = std::move(ranges[i].highest);
  }
}

}  // namespace caudal
