#include "connect/datagen/datagen_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/int128.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

// SplitMix64: row and column give the value, so that row n is the same in every run.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

double Fraction(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

std::string RandomHex(uint64_t seed, int64_t length) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int64_t i = 0; i < length; ++i) text.push_back(kDigits[Mix(seed + static_cast<uint64_t>(i)) & 15]);
  return text;
}

}  // namespace

DatagenReader::DatagenReader(const DatagenOptions* options, std::vector<Output> outputs, Env* env,
                             int64_t next)
    : options_(options),
      outputs_(std::move(outputs)),
      env_(env),
      total_(TotalRows(*options)),
      next_(next),
      first_(next),
      started_nanos_(env->SteadyNanos()) {}

int64_t DatagenReader::TotalRows(const DatagenOptions& options) {
  int64_t total = options.number_of_rows < 0 ? kEndless : options.number_of_rows;
  for (const DatagenField& field : options.fields) {
    if (field.sequence) total = std::min(total, static_cast<int64_t>(field.max - field.min) + 1);
  }
  return total;
}

Position DatagenReader::position() const { return fmt::format("{{\"row\":{}}}", next_); }

Result<Poll> DatagenReader::Next() {
  Result<Poll> poll(Poll(std::in_place_type<NothingYet>));
  if (next_ >= total_) {
    poll->emplace<Finished>();
    return poll;
  }
  const double seconds = static_cast<double>(env_->SteadyNanos() - started_nanos_) * 1e-9;
  // One row at once, so that even a slow table shows that it lives.
  const int64_t due =
      first_ + 1 + static_cast<int64_t>(seconds * static_cast<double>(options_->rows_per_second));
  const int64_t end = std::min({due, total_, next_ + Chunk::kMaxRows});
  if (next_ >= end) return poll;
  std::vector<ColumnPtr> columns;
  for (const Output& output : outputs_) {
    ColumnBuilder builder(output.field.type, static_cast<int32_t>(end - next_));
    for (int64_t row = next_; row < end; ++row) {
      if (output.source >= 0) {
        const size_t column = static_cast<size_t>(output.source);
        Append(options_->fields[column], column, row, &builder);
      } else if (output.source == -1) {
        builder.AppendValue(Value(row));
      } else if (output.source == -2) {
        builder.AppendValue(Value(int64_t{0}));
      } else {
        builder.AppendNull();
      }
    }
    columns.push_back(builder.Finish());
  }
  const int32_t count = static_cast<int32_t>(end - next_);
  next_ = end;
  SourceRows rows;
  rows.chunk = Chunk(std::move(columns), count);
  poll->emplace<SourceRows>(std::move(rows));
  return poll;
}

void DatagenReader::Append(const DatagenField& field, size_t column, int64_t row, ColumnBuilder* builder) {
  const uint64_t seed = Mix(static_cast<uint64_t>(row) * 1024 + column);
  if (field.null_rate > 0 && Fraction(Mix(seed)) < field.null_rate) return builder->AppendNull();
  const double number = field.sequence ? field.min + static_cast<double>(row)
                                       : field.min + Fraction(seed) * (field.max - field.min);
  switch (field.type.id()) {
    case TypeId::kBoolean:
      return builder->AppendValue(Value((seed & 1) != 0));
    case TypeId::kFloat:
    case TypeId::kDouble:
      return builder->AppendValue(Value(number));
    case TypeId::kDecimal: {
      int128_t unscaled = 0;
      DoubleToDecimal(number, field.type.precision(), field.type.scale(), &unscaled);
      return builder->AppendValue(field.type.physical() == Physical::kInt64
                                      ? Value(static_cast<int64_t>(unscaled))
                                      : Value(unscaled));
    }
    case TypeId::kChar:
    case TypeId::kVarChar:
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      if (field.sequence) return builder->AppendValue(Value(fmt::format("{}", static_cast<int64_t>(number))));
      return builder->AppendValue(
          Value(RandomHex(seed, std::min<int64_t>(field.length, field.type.length()))));
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz: {
      const int64_t past = static_cast<int64_t>(Fraction(seed) * static_cast<double>(field.max_past_millis));
      return builder->AppendValue(Value((env_->NowMillis() - past) * (field.type.ticks_per_second() / 1000)));
    }
    default:
      return builder->AppendValue(Value(static_cast<int64_t>(std::floor(number))));
  }
}

}  // namespace caudal
