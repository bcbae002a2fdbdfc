// What every keyed row pays: its key as bytes, the key's hash, copying it into state.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "data/column_builder.h"
#include "data/row_key.h"

namespace caudal {
namespace {

constexpr int32_t kRows = Chunk::kMaxRows;

Chunk MakeChunk() {
  ColumnBuilder ids(Type::String(), kRows);
  ColumnBuilder accounts(Type::String(), kRows);
  ColumnBuilder windows(Type(TypeId::kBigInt), kRows);
  for (int32_t i = 0; i < kRows; ++i) {
    ids.AppendString(fmt::format("3f2a{:04x}-9b1c-4d7e-8a60-{:012x}", i, i * 7919));
    accounts.AppendString(fmt::format("ACC-{:06d}", i * 31 % 5000));
    windows.Append<int64_t>(1'700'000'000'000 + i / 64 * 60'000);
  }
  return Chunk({ids.Finish(), accounts.Finish(), windows.Finish()}, kRows);
}

void Run() {
  const Chunk chunk = MakeChunk();
  RowKeys keys;
  auto encode = [&](std::vector<int> columns) {
    return [&chunk, &keys, columns] {
      keys.Encode(chunk, columns, chunk.rows());
      KeepResult(keys.hash(0));
    };
  };
  Measure("row key: transaction id (UUID)", kRows, encode({0}));
  Measure("row key: account (text of 10 bytes)", kRows, encode({1}));
  Measure("row key: account, window end", kRows, encode({1, 2}));
  Measure("chunk: copy 3 columns", kRows, [&] { KeepResult(chunk.Compact()); });
}

}  // namespace
}  // namespace caudal

int main() { caudal::Run(); }
