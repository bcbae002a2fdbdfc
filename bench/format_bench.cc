// What one record costs from JSON through columns into Parquet: 14 fields, 310 bytes.
#include <fmt/format.h>

#include "bench/measure.h"
#include "data/column_builder.h"
#include "format/json_decoder.h"
#include "format/parquet_writer.h"

namespace caudal {
namespace {

constexpr int kRecords = 4096;
constexpr int kBatches = 32;  // one row group

// A card transaction; `turned`: its names in another order.
std::string Transaction(int i, bool turned) {
  static constexpr const char* kMerchants[] = {"grocer", "fuel station", "bookshop", "airline"};
  const uint32_t mixed = static_cast<uint32_t>(i) * 2654435761u;
  const std::string head = fmt::format(
      R"("transaction_id":"{:08x}-aaaa-4bbb-8ccc-{:012x}","account_id":"acc-{:06d}","event_time":"2026-03-01 {:02d}:{:02d}:{:02d}.{:03d}","amount":{}.{:02d})",
      mixed, mixed * 40503u, mixed % 5000, i / 3600 % 24, i / 60 % 60, i % 60, mixed % 1000, mixed % 900,
      mixed % 100);
  const std::string tail = fmt::format(
      R"("currency":"EUR","merchant":"{}","mcc":{},"country":"DE","channel":"card","contactless":{},"device":"dev-{}","ip":"10.0.{}.{}","status":"completed","risk":0.{:03d})",
      kMerchants[mixed % 4], 5000 + mixed % 40, mixed % 2 == 0, mixed % 100, mixed % 7, mixed % 250,
      mixed % 1000);
  return turned ? fmt::format("{{{},{}}}", tail, head) : fmt::format("{{{},{}}}", head, tail);
}

Schema TransactionSchema() {
  Schema schema;
  schema.fields = {{"transaction_id", Type::String()}, {"account_id", Type::String()},
                   {"event_time", Type::Timestamp(3)}, {"amount", Type::Decimal(18, 2)},
                   {"currency", Type::String()},       {"merchant", Type::String()},
                   {"mcc", Type(TypeId::kInt)},        {"country", Type::String()},
                   {"channel", Type::String()},        {"contactless", Type(TypeId::kBoolean)},
                   {"device", Type::String()},         {"ip", Type::String()},
                   {"status", Type::String()},         {"risk", Type(TypeId::kDouble)}};
  return schema;
}

struct Input {
  MutableBufferPtr bytes;
  RawBatch batch;
};

// `turn`: every how many records the names stand in another order; 0 = never.
Input MakeInput(int first, int turn, std::string_view separator) {
  std::string text;
  std::vector<std::pair<size_t, size_t>> spans;
  for (int i = 0; i < kRecords; ++i) {
    const std::string record = Transaction(first + i, turn > 0 && i % turn == 0);
    spans.emplace_back(text.size(), record.size());
    text.append(record).append(separator);
  }
  Input input;
  input.bytes = Buffer::Allocate(text.size());
  std::memcpy(input.bytes->mutable_data(), text.data(), text.size());
  for (const auto& [begin, size] : spans) {
    input.batch.records.push_back({{input.bytes->data() + begin, size}, {}, static_cast<int64_t>(begin), 0});
  }
  input.batch.pins = {input.bytes};
  return input;
}

void MeasureDecoder(const char* name, int turn, std::string_view separator) {
  const Input input = MakeInput(0, turn, separator);
  auto decoder = JsonDecoder::Make(TransactionSchema(), {});
  Measure(name, kRecords, [&] {
    DecodedRows rows;
    const Status status = (*decoder)->Decode(input.batch, &rows);
    KeepResult(status.ok() && rows.errors.empty());
  });
}

// Counts bytes, keeps none.
class NullFile : public WritableFile {
 public:
  Status Append(std::string_view bytes) override {
    size_ += static_cast<int64_t>(bytes.size());
    return Status();
  }
  Status Sync() override { return Status(); }
  Status Close() override { return Status(); }
  int64_t size() const override { return size_; }

 private:
  int64_t size_ = 0;
};

void MeasureWriter() {
  auto decoder = JsonDecoder::Make(TransactionSchema(), {});
  std::vector<Input> inputs;
  std::vector<DecodedRows> decoded(kBatches);
  for (int i = 0; i < kBatches; ++i) {
    inputs.push_back(MakeInput(i * kRecords, 0, "\n"));
    KeepResult((*decoder)->Decode(inputs.back().batch, &decoded[static_cast<size_t>(i)]).ok());
  }
  int64_t bytes = 0, longest_append = 0, longest_step = 0;
  const auto timed = [](int64_t* longest, const auto& call) {
    const int64_t start = ThreadCpuNanoseconds();
    auto result = call();
    *longest = std::max(*longest, ThreadCpuNanoseconds() - start);
    return result;
  };
  Measure("parquet, 14 columns, zstd 1", kRecords * kBatches, [&] {
    NullFile file;
    auto writer = std::move(ParquetWriter::Make(TransactionSchema(), {}, &file)).value();
    for (const DecodedRows& rows : decoded) {
      KeepResult(timed(&longest_append, [&] {
                   return writer->Append(rows.columns, {nullptr, rows.row_count});
                 }).ok());
      for (int step = 0; step < 3; ++step)
        KeepResult(timed(&longest_step, [&] { return writer->Step(); }).ok());
    }
    for (Result<bool> more = true; more.ok() && *more;)
      more = timed(&longest_step, [&] { return writer->Step(); });
    KeepResult(writer->Finish().ok());
    bytes = file.size();
  });
  std::printf("parquet: %.1f bytes a row, longest append %.1f ms, longest step %.1f ms\n",
              static_cast<double>(bytes) / (kRecords * kBatches), static_cast<double>(longest_append) / 1e6,
              static_cast<double>(longest_step) / 1e6);
}

// What a file costs that is being written, while its row groups are encoded beside the rows that come.
void MeasureOpenWriter() {
  constexpr int64_t kRowGroups = 4;
  auto decoder = JsonDecoder::Make(TransactionSchema(), {});
  NullFile file;
  auto writer = std::move(ParquetWriter::Make(TransactionSchema(), {}, &file)).value();
  int64_t most = 0, rows = 0;
  for (int batch = 0; rows < kRowGroups * ParquetOptions().row_group_rows; ++batch) {
    const Input input = MakeInput(batch * kRecords, 0, "\n");
    DecodedRows decoded;
    KeepResult((*decoder)->Decode(input.batch, &decoded).ok());
    KeepResult(writer->Append(decoded.columns, {nullptr, decoded.row_count}).ok());
    rows += decoded.row_count;
    most = std::max(most, writer->buffered_bytes());
    for (int step = 0; step < 3; ++step) KeepResult(writer->Step().ok());
  }
  std::printf("parquet: an open writer holds %.1f MB at most, %.0f bytes for each row of a group\n",
              static_cast<double>(most) / 1e6,
              static_cast<double>(most) / static_cast<double>(ParquetOptions().row_group_rows));
}

// Columns of random text alone, where looking for repetitions would be most of the work.
void MeasureRandomText() {
  Schema schema;
  schema.fields = {{"transaction_id", Type::String()}, {"device", Type::String()}};
  std::vector<std::vector<ColumnPtr>> batches;
  uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  };
  for (int batch = 0; batch < kBatches; ++batch) {
    ColumnBuilder ids(Type::String(), kRecords), devices(Type::String(), kRecords);
    for (int row = 0; row < kRecords; ++row) {
      const uint32_t head = next(), tail = next();
      ids.AppendString(fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:08x}{:04x}", head, tail % 0x10000,
                                   next() % 0x1000, next() % 0x1000, next(), next() % 0x10000));
      devices.AppendString(fmt::format("dev-{:08x}", next()));
    }
    batches.push_back({ids.Finish(), devices.Finish()});
  }
  Measure("parquet, random ids, zstd 1", kRecords * kBatches, [&] {
    NullFile file;
    auto writer = std::move(ParquetWriter::Make(schema, {}, &file)).value();
    for (const std::vector<ColumnPtr>& columns : batches) {
      KeepResult(writer->Append(columns, {nullptr, kRecords}).ok());
    }
    KeepResult(writer->Finish().ok());
  });
}

}  // namespace
}  // namespace caudal

int main() {
  caudal::MeasureDecoder("json, 14 fields, lines of a file", 0, "\n");
  caudal::MeasureDecoder("json, 14 fields, records alone", 0, "#");
  caudal::MeasureDecoder("json, 14 fields, order changes at each", 2, "\n");
  caudal::MeasureWriter();
  if (std::getenv("CAUDAL_BENCH_ROUNDS") == nullptr) caudal::MeasureOpenWriter();
  caudal::MeasureRandomText();
  return 0;
}
