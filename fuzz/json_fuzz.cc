// The JSON decoder: any bytes end in rows and row errors, and a record gives the same row or error whatever
// stands before it in the batch (the decoder tries the last record's order of names first and keeps
// dictionaries).
//
// The bits of the first byte choose the options and whether lines or the whole input are records.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "data/value.h"
#include "format/json_decoder.h"

namespace caudal {
namespace {

std::vector<Field> ScalarFields() {
  const Type text = Type::String();
  return {{"s", text},
          {"bo", Type(TypeId::kBoolean)},
          {"ti", Type(TypeId::kTinyInt)},
          {"si", Type(TypeId::kSmallInt)},
          {"in", Type(TypeId::kInt)},
          {"bi", Type(TypeId::kBigInt)},
          {"fl", Type(TypeId::kFloat)},
          {"db", Type(TypeId::kDouble)},
          {"de", Type::Decimal(18, 2)},
          {"wd", Type::Decimal(38, 10)},
          {"da", Type(TypeId::kDate)},
          {"tm", Type::Time(0)},
          {"ts", Type::Timestamp(3)},
          {"tn", Type::Timestamp(9)},
          {"tz", Type::TimestampLtz(6)},
          {"by", Type::Bytes()}};
}

Schema EveryType() {
  const Type text = Type::String();
  std::vector<Field> fields = ScalarFields();
  fields.push_back({"m", Type::Map(text, Type(TypeId::kBigInt))});
  fields.push_back({"ar", Type::Array(Type::Row({{"x", text}, {"y", Type::Array(text)}}))});
  fields.push_back({"r", Type::Row(ScalarFields())});
  fields.push_back({"vc", Type::VarChar(5)});
  return {fields};
}

JsonOptions OptionsOf(uint8_t bits) {
  JsonOptions options;
  options.fail_on_missing_field = (bits & 1) != 0;
  options.ignore_parse_errors = (bits & 2) != 0;
  options.timestamp_form = (bits & 4) != 0 ? TimestampForm::kIso8601 : TimestampForm::kSql;
  options.null_key = static_cast<JsonOptions::NullKey>((bits >> 4) % 3);
  return options;
}

// The records' bytes, each with the padding that the decoder may read past it.
RawBatch Records(std::string_view input, bool lines) {
  auto buffer = Buffer::Allocate(input.size());
  if (!input.empty()) std::memcpy(buffer->mutable_data(), input.data(), input.size());
  std::memset(buffer->mutable_data() + input.size(), 0, Buffer::kPadding);
  RawBatch batch;
  batch.pins.push_back(buffer);
  for (std::string_view rest = buffer->view(); batch.records.size() < 64;) {
    const size_t end = lines ? rest.find('\n') : std::string_view::npos;
    batch.records.push_back({.value = rest.substr(0, end)});
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return batch;
}

// Equal, and NaN is the same as NaN.
bool Same(const Value& a, const Value& b) {
  const double* x = std::get_if<double>(&a.data);
  const double* y = std::get_if<double>(&b.data);
  if (x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y)) return true;
  const ValueList* left = std::get_if<ValueList>(&a.data);
  const ValueList* right = std::get_if<ValueList>(&b.data);
  if (left == nullptr || right == nullptr) return a == b;
  return std::equal(left->begin(), left->end(), right->begin(), right->end(), Same);
}

DecodedRows Decode(Decoder& decoder, const RawBatch& batch) {
  DecodedRows rows;
  if (!decoder.Decode(batch, &rows).ok()) std::abort();
  const size_t records = batch.records.size();
  const size_t selected = rows.selection ? rows.selection->rows.size() : static_cast<size_t>(rows.row_count);
  if (rows.record_of_row.empty() && selected + rows.errors.size() != records) std::abort();
  for (size_t i = 0; i < rows.errors.size(); ++i) {
    if (rows.errors[i].message.empty() || static_cast<size_t>(rows.errors[i].record) >= records) std::abort();
    if (i > 0 && rows.errors[i - 1].record >= rows.errors[i].record) std::abort();
  }
  return rows;
}

// Decoders are dear to make (each owns dictionaries), so each set of options keeps its two for the whole run:
// their histories differ, their results must not.
struct Pair {
  std::unique_ptr<JsonDecoder> forward;
  std::unique_ptr<JsonDecoder> alone;
};

Pair& DecodersFor(uint8_t bits) {
  static Pair pairs[256];
  Pair& pair = pairs[bits];
  if (pair.forward == nullptr) {
    for (auto* decoder : {&pair.forward, &pair.alone}) {
      auto made = JsonDecoder::Make(EveryType(), OptionsOf(bits));
      if (!made.ok()) std::abort();
      *decoder = std::move(made).value();
    }
  }
  return pair;
}

void Run(uint8_t bits, std::string_view input) {
  Pair& decoders = DecodersFor(bits & 0x37);
  const RawBatch batch = Records(input, (bits & 8) != 0);
  const DecodedRows all = Decode(*decoders.forward, batch);
  size_t errors_left = all.errors.size();
  for (size_t i = batch.records.size(); i-- > 0;) {
    const auto row = static_cast<int32_t>(i);
    const DecodedRows one = Decode(*decoders.alone, {{batch.records[i]}, batch.pins});
    const bool failed = errors_left > 0 && all.errors[errors_left - 1].record == row;
    if (failed != !one.errors.empty()) std::abort();
    if (failed && all.errors[--errors_left].message != one.errors[0].message) std::abort();
    for (size_t c = 0; !failed && c < all.columns.size(); ++c) {
      if (!Same(ValueAt(*all.columns[c], row), ValueAt(*one.columns[c], 0))) std::abort();
    }
  }
}

}  // namespace
}  // namespace caudal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) caudal::Run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
