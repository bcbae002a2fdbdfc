// Through the module, as the program does it: what ParquetWriter wrote, ParquetReader reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/fault_point.h"
#include "data/column_builder.h"
#include "format/parquet_reader.h"
#include "format/parquet_writer.h"

namespace caudal {
namespace {

class ParquetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-parquet-XXXXXX";
    path_ = std::string(mkdtemp(name)) + "/file.parquet";
  }
  void TearDown() override {
    Faults::Disarm();
    std::filesystem::remove_all(path_.substr(0, path_.find_last_of('/')));
  }

  void Start(const Schema& schema, int64_t group_rows = 1000) {
    file_ = std::move(FileSystem::Local()->Create(path_)).value();
    ParquetOptions options;
    options.row_group_rows = group_rows;
    auto writer = ParquetWriter::Make(schema, options, file_.get());
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    writer_ = std::move(writer).value();
  }
  // Rows of all columns of the file.
  std::vector<std::vector<Value>> ReadBack(const Schema& schema, int64_t first = 0, std::string path = {}) {
    if (path.empty()) path = path_;
    auto file = FileSystem::Local()->Open(path);
    auto reader = ParquetReader::Open(file->get(), path);
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    if (!reader.ok()) return {};
    const Status projected = (*reader)->Project(schema, first);
    EXPECT_TRUE(projected.ok()) << projected.ToString();
    std::vector<std::vector<Value>> rows;
    for (;;) {
      auto chunk = (*reader)->Next();
      EXPECT_TRUE(chunk.ok()) << chunk.status().ToString();
      if (!chunk.ok() || chunk->empty()) return rows;
      for (int32_t row = 0; row < chunk->size(); ++row) {
        std::vector<Value>& values = rows.emplace_back();
        for (const ColumnPtr& column : chunk->columns()) values.push_back(ValueAt(*column, row));
      }
    }
  }

  std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<ParquetWriter> writer_;
};

Schema EveryType() {
  Schema schema;
  schema.fields = {{"b", Type(TypeId::kBoolean)},
                   {"i8", Type(TypeId::kTinyInt)},
                   {"i16", Type(TypeId::kSmallInt)},
                   {"i32", Type(TypeId::kInt, false)},
                   {"i64", Type(TypeId::kBigInt)},
                   {"f", Type(TypeId::kFloat)},
                   {"d", Type(TypeId::kDouble)},
                   {"dec", Type::Decimal(18, 2)},
                   {"wide", Type::Decimal(38, 10)},
                   {"s", Type::String()},
                   {"x", Type::Bytes()},
                   {"date", Type(TypeId::kDate)},
                   {"time", Type::Time(3)},
                   {"ts", Type::Timestamp(3)},
                   {"ltz", Type::TimestampLtz(6)},
                   {"ns", Type::Timestamp(9)}};
  return schema;
}

std::vector<Value> RowOfEveryType(int64_t i) {
  if (i % 5 == 4) {
    std::vector<Value> nulls(16);
    nulls[3] = Value(i);
    return nulls;
  }
  const int128_t wide = (i % 2 == 0 ? 1 : -1) * static_cast<int128_t>(1234567890123456789) * 1000000007 * i;
  return {Value(i % 2 == 0),
          Value(i % 100 - 50),
          Value(i - 3000),
          Value(i),
          Value(i * 1'000'000'007),
          Value(0.5 * static_cast<double>(i)),
          Value(0.1 * static_cast<double>(i)),
          Value(i * 100 - 50),
          Value(wide),
          Value("text " + std::to_string(i % 7)),
          Value(std::string("\0\xFF", 2) + std::to_string(i)),
          Value(i - 100),
          Value(i * 1000),
          Value((i - 10) * 1'000'000),
          Value(i * 1'000'001),
          Value(i * 7 - 1)};
}

TEST_F(ParquetTest, TheFooterTellsWhatEachColumnHolds) {
  const Schema schema{{{"i", Type(TypeId::kInt)},
                       {"d", Type(TypeId::kDouble)},
                       {"wide", Type::Decimal(38, 2)},
                       {"s", Type::String()},
                       {"none", Type(TypeId::kBigInt)}}};
  file_ = std::move(FileSystem::Local()->Create(path_)).value();
  writer_ = std::move(
      ParquetWriter::Make(schema, {.row_group_rows = 2, .field_ids = {4, 5, 6, 7, 8}}, file_.get()).value());
  ColumnBuilder i(schema[0].type), d(schema[1].type), wide(schema[2].type), s(schema[3].type),
      none(schema[4].type);
  const double doubles[] = {5.0, 0.0 / 0.0, -2.0, 5.0};
  for (int64_t row = 0; row < 4; ++row) {
    row == 1 ? i.AppendNull() : i.Append<int32_t>(static_cast<int32_t>(10 - row));
    d.Append(doubles[row]);
    wide.Append<int128_t>(row - 2);
    s.AppendString(row == 3 ? std::string(100'000, 'z') : "a" + std::to_string(row));
    none.AppendNull();
  }
  const Chunk chunk({i.Finish(), d.Finish(), wide.Finish(), s.Finish(), none.Finish()}, 4);
  for (uint16_t row : {0, 2}) {  // two row groups
    const uint16_t rows[] = {row, static_cast<uint16_t>(row + 1)};
    ASSERT_TRUE(writer_->Append(chunk.columns(), {rows, 2}).ok());
  }
  const auto footer = writer_->Finish();
  ASSERT_TRUE(footer.ok());
  ASSERT_EQ(footer->row_groups, 2);
  ASSERT_EQ(footer->group_offsets.size(), 2u);
  EXPECT_EQ(footer->group_offsets[0], 4);
  EXPECT_GT(footer->group_offsets[1], 4);
  const auto& columns = footer->columns;
  EXPECT_EQ(columns[0].nulls, 1);
  EXPECT_EQ(columns[0].lowest, Value(int64_t{7}));
  EXPECT_EQ(columns[0].highest, Value(int64_t{10}));
  EXPECT_EQ(columns[1].nans, 1);
  EXPECT_EQ(columns[1].lowest, Value(-2.0));
  EXPECT_EQ(columns[1].highest, Value(5.0));
  EXPECT_EQ(columns[2].lowest, Value(int128_t{-2}));
  EXPECT_EQ(columns[2].highest, Value(int128_t{1}));
  EXPECT_EQ(columns[3].highest, std::nullopt) << "one group does not tell";
  EXPECT_EQ(columns[4].nulls, 4);
  EXPECT_EQ(columns[4].lowest, std::nullopt);
  EXPECT_GT(columns[0].bytes, 0);

  ASSERT_TRUE(file_->Close().ok());
  auto file = FileSystem::Local()->Open(path_);
  auto reader = ParquetReader::Open(file->get(), path_);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ((*reader)->field_ids(), (std::vector<int32_t>{4, 5, 6, 7, 8}));
}

TEST_F(ParquetTest, EveryTypeIsReadBackWhateverTheSelection) {
  const Schema schema = EveryType();
  Start(schema);
  std::vector<std::vector<Value>> expected;
  for (int64_t chunk = 0; chunk < 5; ++chunk) {
    std::vector<ColumnBuilder> builders;
    for (const Field& field : schema.fields) builders.emplace_back(field.type);
    std::vector<uint16_t> odd;
    for (int64_t i = 0; i < 700; ++i) {
      const std::vector<Value> row = RowOfEveryType(chunk * 700 + i);
      for (size_t c = 0; c < row.size(); ++c) builders[c].AppendValue(row[c]);
      if (i % 2 == 1) odd.push_back(static_cast<uint16_t>(i));
      if (i % 2 == 1 || chunk % 2 == 0) expected.push_back(row);
    }
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
    const RowSet rows =
        chunk % 2 == 0 ? RowSet{nullptr, 700} : RowSet{odd.data(), static_cast<int32_t>(odd.size())};
    ASSERT_TRUE(writer_->Append(columns, rows).ok());
    for (auto more = writer_->Step(); more.ok() && *more; more = writer_->Step()) {
    }
  }
  EXPECT_GT(writer_->buffered_bytes(), 10'000);
  auto footer = writer_->Finish();
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  // A whole file waits for the commit of its epoch; its memory does not.
  EXPECT_LT(writer_->buffered_bytes(), 1000);
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_EQ(footer->rows, static_cast<int64_t>(expected.size()));
  EXPECT_EQ(footer->row_groups, 3);
  EXPECT_EQ(ReadBack(schema), expected);
  EXPECT_EQ(ReadBack(schema, 1500).size(), expected.size() - 1500);
  EXPECT_EQ(ReadBack(schema, 1500)[0], expected[1500]);
}

TEST_F(ParquetTest, CodesOfSeveralDictionariesAndFlatTextMix) {
  Schema schema;
  schema.fields = {{"s", Type::String()}};
  Start(schema, 1'000'000);
  std::vector<std::vector<Value>> expected;
  const auto append_coded = [&](uint64_t id, std::vector<std::string> names, std::vector<int32_t> codes) {
    auto* dictionary = new StringDictionary(id);
    const StringDictionaryPtr shared(dictionary);
    for (const std::string& name : names) dictionary->Append(name);
    MutableBufferPtr buffer = Buffer::Allocate(codes.size() * 4);
    std::copy(codes.begin(), codes.end(), buffer->mutable_as<int32_t>());
    const int32_t size = static_cast<int32_t>(codes.size());
    const ColumnPtr column =
        Column::Dictionary(Type::String(), size, buffer, nullptr, shared, static_cast<int32_t>(names.size()));
    ASSERT_TRUE(writer_->Append({column}, {nullptr, size}).ok());
    for (const int32_t code : codes) expected.push_back({Value(names[static_cast<size_t>(code)])});
  };
  append_coded(1, {"a", "b", "c"}, {0, 1, 1, 2});
  append_coded(2, {"c", "a", "some longer text"}, {2, 0, 1});
  ASSERT_TRUE(
      writer_->Append({ConstantColumn(Type::String(), Value(std::string("k")), 2)}, {nullptr, 2}).ok());
  expected.push_back({Value(std::string("k"))});
  expected.push_back({Value(std::string("k"))});
  ASSERT_TRUE(writer_->Append({ConstantColumn(Type::String(), Value(), 1)}, {nullptr, 1}).ok());
  expected.push_back({Value()});
  ColumnBuilder flat(Type::String());
  flat.AppendString("flat");
  flat.AppendNull();
  ASSERT_TRUE(writer_->Append({flat.Finish()}, {nullptr, 2}).ok());
  expected.push_back({Value(std::string("flat"))});
  expected.push_back({Value()});
  append_coded(3, {"z"}, {0});
  ASSERT_TRUE(writer_->Finish().ok());
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_EQ(ReadBack(schema), expected);
}

// Codes wait for the last row of their group, text and numbers do not: both come out in the order of the
// rows, also where a column turns from one into the other in the middle.
TEST_F(ParquetTest, ALongGroupIsEncodedAsItGathers) {
  const Schema schema{{{"n", Type(TypeId::kBigInt)},
                       {"few", Type::String()},
                       {"many", Type::String()},
                       {"turns", Type::String()}}};
  constexpr int32_t kChunk = 1000, kChunks = 90, kTurn = 40;
  Start(schema, kChunk * 50);
  constexpr int32_t kNames = kChunk * kChunks / 2;  // a dictionary holds no more than 65,536
  std::vector<StringDictionaryPtr> names;
  for (int32_t first : {0, kNames}) {
    auto* dictionary = new StringDictionary(static_cast<uint64_t>(first) + 1);
    names.emplace_back(dictionary);
    for (int32_t i = first; i < first + kNames; ++i) dictionary->Append("name " + std::to_string(i));
  }
  const auto coded = [&](size_t dictionary, int32_t first, int32_t distinct) {
    MutableBufferPtr codes = Buffer::Allocate(kChunk * sizeof(int32_t));
    for (int32_t i = 0; i < kChunk; ++i) codes->mutable_as<int32_t>()[i] = (first + i) % distinct;
    return Column::Dictionary(Type::String(), kChunk, codes, nullptr, names[dictionary], kNames);
  };
  std::vector<std::vector<Value>> expected;
  for (int32_t chunk = 0; chunk < kChunks; ++chunk) {
    const int32_t first = chunk * kChunk;
    ColumnBuilder numbers(schema[0].type), flat(schema[3].type);
    for (int32_t row = first; row < first + kChunk; ++row) {
      const auto name = [](int32_t i) { return Value("name " + std::to_string(i)); };
      const bool null = row % 7 == 0;
      null ? numbers.AppendNull() : numbers.Append<int64_t>(row);
      flat.AppendString("name " + std::to_string(row % 5));
      expected.push_back({null ? Value() : Value(int64_t{row}), name(row % 30), name(row), name(row % 5)});
    }
    const ColumnPtr turns = chunk % kTurn == kTurn - 1 ? flat.Finish() : coded(0, first, 5);
    ASSERT_TRUE(writer_
                    ->Append({numbers.Finish(), coded(0, first, 30),
                              coded(static_cast<size_t>(first / kNames), first, kNames), turns},
                             {nullptr, kChunk})
                    .ok());
    for (int step = 0; step < 2; ++step) ASSERT_TRUE(writer_->Step().ok());
  }
  const Result<ParquetFooter> footer = writer_->Finish();
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  EXPECT_EQ(footer->row_groups, 2);
  EXPECT_EQ(footer->columns[0].nulls, kChunk * kChunks / 7 + 1);
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_EQ(ReadBack(schema), expected);
}

TEST_F(ParquetTest, AnOpenWriterHoldsAPartOfItsGroup) {
  const Schema schema{{{"s", Type::String()}}};
  constexpr int32_t kChunk = 1000, kChunks = 300;
  constexpr int64_t kTextBytes = 200;
  Start(schema, kChunk * kChunks);
  ColumnBuilder text(schema[0].type);
  for (int32_t row = 0; row < kChunk; ++row) text.AppendString(std::string(kTextBytes, 'a'));
  const ColumnPtr column = text.Finish();
  for (int32_t chunk = 0; chunk < kChunks; ++chunk) {
    ASSERT_TRUE(writer_->Append({column}, {nullptr, kChunk}).ok());
    ASSERT_TRUE(writer_->Step().ok());
    ASSERT_LT(writer_->buffered_bytes(), kChunk * kChunks * kTextBytes / 3);
  }
  EXPECT_EQ(writer_->Finish()->row_groups, 1);
}

// Many short values, and one long one in most rows: as text it would be 200 MB.
TEST_F(ParquetTest, ALongValueOfManyRowsIsHeldOnce) {
  const Schema schema{{{"s", Type::String()}}};
  constexpr int32_t kRows = 1000, kOthers = 300, kChunks = 17;
  Start(schema, 1'000'000);
  auto* words = new StringDictionary(1);
  const StringDictionaryPtr shared(words);
  words->Append(std::string(20'000, 'a'));
  std::vector<std::vector<Value>> expected;
  for (int32_t chunk = 0; chunk < kChunks; ++chunk) {
    MutableBufferPtr codes = Buffer::Allocate(kRows * sizeof(int32_t));
    for (int32_t row = 0; row < kRows; ++row) {
      const bool is_other = row < kOthers;
      if (is_other) words->Append(std::to_string(chunk * kOthers + row));
      codes->mutable_as<int32_t>()[row] = is_other ? 1 + chunk * kOthers + row : 0;
      expected.push_back(
          {Value(is_other ? std::to_string(chunk * kOthers + row) : std::string(20'000, 'a'))});
    }
    const ColumnPtr column =
        Column::Dictionary(schema[0].type, kRows, codes, nullptr, shared, 1 + (chunk + 1) * kOthers);
    ASSERT_TRUE(writer_->Append({column}, {nullptr, kRows}).ok());
    ASSERT_TRUE(writer_->Step().ok());
    ASSERT_LT(writer_->buffered_bytes(), 10'000'000) << chunk;
  }
  ASSERT_TRUE(writer_->Finish().ok());
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_TRUE(ReadBack(schema) == expected);
}

// Ids are random and nothing is gained by looking for repetitions in them; whole sentences that stand far
// apart must still be found again.
TEST_F(ParquetTest, TextIsCompressedByWhatItHolds) {
  Schema schema;
  schema.fields = {{"id", Type::String()}, {"n", Type(TypeId::kBigInt)}, {"sentence", Type::String()}};
  constexpr int32_t kRows = 60'000;
  constexpr size_t kIdBytes = 32, kSentenceBytes = 100;
  std::mt19937_64 random(1);
  const auto text = [&random](size_t size) {
    std::string hex;
    while (hex.size() < size) hex.push_back("0123456789abcdef"[random() % 16]);
    return hex;
  };
  std::vector<std::string> sentences;
  for (int i = 0; i < 1000; ++i) sentences.push_back(text(kSentenceBytes));
  Start(schema, kRows);
  std::vector<std::string> ids;
  for (int32_t first = 0; first < kRows; first += 1000) {
    std::vector<ColumnBuilder> builders;
    for (const Field& field : schema.fields) builders.emplace_back(field.type, 1000);
    for (int32_t row = first; row < first + 1000; ++row) {
      builders[0].AppendString(ids.emplace_back(text(kIdBytes)));
      builders[1].AppendValue(Value(int64_t{row} * 7));
      builders[2].AppendString(sentences[static_cast<size_t>(row % 1000)]);
    }
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
    ASSERT_TRUE(writer_->Append(columns, {nullptr, 1000}).ok());
  }
  const Result<ParquetFooter> footer = writer_->Finish();
  ASSERT_TRUE(footer.ok()) << footer.status().ToString();
  ASSERT_TRUE(file_->Close().ok());
  // Sixteen digits are four bits each; a thousand sentences are kept once, though each repetition lies 100 KB
  // behind.
  EXPECT_LT(footer->columns[0].bytes, int64_t{kRows} * (kIdBytes / 2 + 3));
  EXPECT_LT(footer->columns[2].bytes, int64_t{kRows} * kSentenceBytes / 8);
  const auto rows = ReadBack(schema);
  ASSERT_EQ(rows.size(), static_cast<size_t>(kRows));
  for (size_t row = 0; row < rows.size(); ++row) {
    ASSERT_EQ(rows[row][0], Value(ids[row]));
    ASSERT_EQ(rows[row][2], Value(sentences[row % 1000]));
  }
}

TEST_F(ParquetTest, AFailingDiskCostsAPauseOnly) {
  Schema schema;
  schema.fields = {{"a", Type(TypeId::kInt)}};
  Start(schema, 100);
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1000);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(
        writer_->Append({ConstantColumn(Type(TypeId::kInt), Value(int64_t{i}), 60)}, {nullptr, 60}).ok());
  }
  auto footer = writer_->Finish();
  ASSERT_TRUE(footer.ok());
  EXPECT_FALSE(file_->Close().ok());
  Faults::Disarm();
  EXPECT_EQ(writer_->Finish()->rows, 600);
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_EQ(ReadBack(schema).size(), 600u);
}

TEST_F(ParquetTest, AFileWithoutRowsIsWhole) {
  Schema schema;
  schema.fields = {{"a", Type(TypeId::kInt)}, {"s", Type::String()}};
  Start(schema);
  EXPECT_EQ(writer_->Finish()->rows, 0);
  ASSERT_TRUE(file_->Close().ok());
  EXPECT_EQ(ReadBack(schema).size(), 0u);
}

TEST_F(ParquetTest, WhatCannotBeIsRefusedByName) {
  Schema schema;
  schema.fields = {{"r", Type::Row({{"a", Type(TypeId::kInt)}})}};
  file_ = std::move(FileSystem::Local()->Create(path_)).value();
  EXPECT_EQ(ParquetWriter::Make(schema, {}, file_.get()).status().message(),
            "format 'parquet' cannot write column 'r' of type ROW<`a` INT> yet");
  ASSERT_TRUE(file_->Append("this is no Parquet file").ok());
  ASSERT_TRUE(file_->Close().ok());
  auto file = FileSystem::Local()->Open(path_);
  const Status status = ParquetReader::Open(file->get(), path_).status();
  EXPECT_EQ(status.domain(), Domain::kData);
  EXPECT_TRUE(status.message().starts_with("'" + path_ + "' cannot be read as Parquet"));
}

TEST_F(ParquetTest, ReadsAsWiderTypesOnlyAndMissingColumnsAsNull) {
  Schema schema;
  schema.fields = {{"a", Type(TypeId::kInt)}, {"b", Type::String()}};
  Start(schema);
  ASSERT_TRUE(writer_
                  ->Append({ConstantColumn(Type(TypeId::kInt), Value(int64_t{7}), 1),
                            ConstantColumn(Type::String(), Value(std::string("x")), 1)},
                           {nullptr, 1})
                  .ok());
  ASSERT_TRUE(writer_->Finish().ok());
  ASSERT_TRUE(file_->Close().ok());
  Schema wanted;
  wanted.fields = {{"gone", Type::String()}, {"a", Type(TypeId::kBigInt)}};
  EXPECT_EQ(ReadBack(wanted), (std::vector<std::vector<Value>>{{Value(), Value(int64_t{7})}}));
  auto file = FileSystem::Local()->Open(path_);
  auto reader = std::move(ParquetReader::Open(file->get(), path_)).value();
  EXPECT_EQ(reader->schema().fields[0].type, Type(TypeId::kInt));
  EXPECT_EQ(reader->rows(), 1);
  wanted.fields = {{"b", Type(TypeId::kInt)}};
  ASSERT_TRUE(reader->Project(wanted, 0).ok());
  EXPECT_EQ(reader->Next().status().message(),
            "column 'b' of '" + path_ + "': it is string in the file, not INT");
}

TEST_F(ParquetTest, ReadsWhatOthersWriteAndRefusesTheRestByName) {
  const std::string path =
      (std::filesystem::path(__FILE__).parent_path() / "../../test/fixtures/parquet/foreign.parquet")
          .string();
  auto file = FileSystem::Local()->Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  auto reader = std::move(ParquetReader::Open(file->get(), path)).value();
  const Schema readable = reader->schema();
  std::vector<std::string> types;
  for (const Field& field : readable.fields) types.push_back(field.name + " " + field.type.ToString());
  EXPECT_EQ(types, (std::vector<std::string>{"dict STRING", "dict_int BIGINT", "t_us TIME(3)", "t_ns TIME(3)",
                                             "u64 DECIMAL(20, 0)"}));
  EXPECT_EQ(
      ReadBack(readable, 2, path),
      (std::vector<std::vector<Value>>{{Value(std::string("b")), Value(int64_t{8}), Value(int64_t{3'723'000}),
                                        Value(int64_t{3'723'000}), Value(int128_t{1} << 63)},
                                       {Value(std::string("a")), Value(), Value(int64_t{86'399'999}),
                                        Value(int64_t{86'399'999}), Value((int128_t{1} << 64) - 1)}}));
  EXPECT_EQ(ReadBack(readable, 0, path)[1],
            std::vector<Value>({Value(), Value(int64_t{7}), Value(), Value(), Value()}));
  std::vector<std::string> unreadable;
  for (const auto& [name, type] : reader->unreadable()) {
    unreadable.push_back(name);
    Schema wanted;
    wanted.fields = {{name, Type::String()}};
    EXPECT_EQ(reader->Project(wanted, 0).message(),
              "column '" + name + "' of '" + path + "' is a " + type + ", which cannot be read yet");
  }
  EXPECT_EQ(unreadable, (std::vector<std::string>{"list", "struct", "map", "nothing", "d256"}));
}

TEST_F(ParquetTest, ANameInAnotherCaseIsNoMissingColumn) {
  Schema schema;
  schema.fields = {{"v", Type(TypeId::kInt)}};
  Start(schema);
  ASSERT_TRUE(writer_->Finish().ok());
  ASSERT_TRUE(file_->Close().ok());
  auto file = FileSystem::Local()->Open(path_);
  auto reader = std::move(ParquetReader::Open(file->get(), path_)).value();
  schema.fields[0].name = "V";
  EXPECT_EQ(reader->Project(schema, 0).message(), "column 'V' is named 'v' in '" + path_ + "'");
}

// Of two columns of one name the second was left out without a word.
TEST_F(ParquetTest, TwoColumnsOfOneNameAreRefusedByName) {
  Schema schema;
  schema.fields = {{"v", Type(TypeId::kInt)}, {"v", Type(TypeId::kInt)}, {"w", Type(TypeId::kInt)}};
  Start(schema);
  const ColumnPtr one = ConstantColumn(Type(TypeId::kInt), Value(int64_t{1}), 1);
  const ColumnPtr two = ConstantColumn(Type(TypeId::kInt), Value(int64_t{2}), 1);
  ASSERT_TRUE(writer_->Append({one, one, two}, {nullptr, 1}).ok());
  ASSERT_TRUE(writer_->Finish().ok());
  ASSERT_TRUE(file_->Close().ok());
  auto file = FileSystem::Local()->Open(path_);
  auto reader = std::move(ParquetReader::Open(file->get(), path_)).value();
  EXPECT_EQ(reader->Project(Schema{{schema.fields[0]}}, 0).message(),
            "column 'v' of '" + path_ + "' is a name of several columns, which cannot be read yet");
  EXPECT_EQ(ReadBack(Schema{{schema.fields[2]}}), (std::vector<std::vector<Value>>{{Value(int64_t{2})}}));
}

}  // namespace
}  // namespace caudal
