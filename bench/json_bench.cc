// Decoding the demo's JSON, one record of ten fields after another, into columns.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "bench/measure.h"
#include "demo/neobank_generator.h"
#include "format/json_decoder.h"

namespace caudal {
namespace {

constexpr int32_t kRows = Chunk::kMaxRows;

RawBatch MakeBatch() {
  std::string lines;
  NeobankGenerator(NeobankOptions{}).NextBlock(kRows, &lines);
  auto buffer = Buffer::Allocate(lines.size());
  std::memcpy(buffer->mutable_data(), lines.data(), lines.size());
  std::memset(buffer->mutable_data() + lines.size(), 0, Buffer::kPadding);
  RawBatch batch;
  batch.pins.push_back(buffer);
  for (std::string_view rest = buffer->view(); !rest.empty();) {
    const size_t end = rest.find('\n');
    batch.records.push_back({.value = rest.substr(0, end)});
    rest.remove_prefix(end + 1);
  }
  return batch;
}

Schema TransactionSchema() {
  const Type text = Type::String();
  return {{{"transaction_id", text},
           {"account_id", text},
           {"merchant_id", text},
           {"amount", Type::Decimal(18, 2)},
           {"currency", text},
           {"timestamp", Type::Timestamp(3)},
           {"channel", text},
           {"country_code", text},
           {"status", text},
           {"merchant_category", text}}};
}

void Run() {
  const RawBatch batch = MakeBatch();
  size_t bytes = 0;
  for (const RawRecord& record : batch.records) bytes += record.value.size();
  std::printf("%zu records of %zu bytes\n", batch.records.size(), bytes / batch.records.size());
  NeobankGenerator generator(NeobankOptions{.events = uint64_t{1} << 40});
  std::string made;
  Measure("demo: generate a line", kRows, [&] {
    made.clear();
    generator.NextBlock(kRows, &made);
  });
  auto decoder = std::move(JsonDecoder::Make(TransactionSchema(), JsonOptions())).value();
  Measure("json: decode 10 columns", kRows, [&] {
    DecodedRows rows;
    const Status decoded = decoder->Decode(batch, &rows);
    KeepResult(decoded.ok() && rows.errors.empty());
  });
}

}  // namespace
}  // namespace caudal

int main() { caudal::Run(); }
