#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "api/testing/sink_under_test.h"
#include "connect/iceberg/iceberg_columns.h"
#include "connect/iceberg/iceberg_connector.h"
#include "connect/iceberg/iceberg_lake.h"
#include "data/column_builder.h"
#include "format/parquet_writer.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/puffin.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class IcebergSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-iceberg-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    table_.options = {{"connector", "iceberg"}, {"catalog-name", "lake"}, {"warehouse", folder_ + "/w"}};
    Declare({{"id", Type(TypeId::kBigInt)}, {"small", Type(TypeId::kTinyInt)}, {"s", Type::String()}});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Declare(const std::vector<Field>& columns) {
    table_.columns.clear();
    for (const Field& column : columns) {
      TableColumn& made = table_.columns.emplace_back();
      made.name = column.name;
      made.type = column.type;
    }
  }
  static Chunk Rows(int64_t first, int32_t rows) {
    ColumnBuilder id(Type(TypeId::kBigInt)), small(Type(TypeId::kTinyInt)), s(Type::String());
    for (int64_t i = first; i < first + rows; ++i) {
      id.Append<int64_t>(i);
      i % 3 == 0 ? small.AppendNull() : small.Append<int8_t>(static_cast<int8_t>(-i % 100));
      s.AppendString("row " + std::to_string(i));
    }
    return Chunk({id.Finish(), small.Finish(), s.Finish()}, rows);
  }
  // An epoch of its own.
  void Write(const Chunk& rows) {
    SinkUnderTest test;
    test.rows = [&](int64_t) { return rows; };
    test.open = [this](int64_t generation) {
      ConnectorContext context;
      context.query = "p/q";
      context.sink = "t/sink/1";
      context.generation = generation;
      context.files = FileSystem::Local();
      context.segment_dir = folder_ + "/state";
      std::filesystem::create_directories(context.segment_dir);
      return connector_.MakeSink(table_, context);
    };
    const Epoch epoch{1, ++epoch_};
    sink_contract::ExpectCommitted(
        sink_contract::Commit(test, 1, epoch, sink_contract::Prepared(test, 1, epoch.number)));
  }
  std::unique_ptr<IcebergLake> Lake() {
    auto lake = IcebergLake::Open(*IcebergOptions::From(table_), FileSystem::Local(), Env::Real());
    EXPECT_TRUE(lake.ok()) << lake.status().ToString();
    return std::move(lake).value();
  }
  iceberg::TableMetadata Metadata() {
    return Lake()->catalog().LoadTable(IcebergOptions::From(table_)->name)->metadata;
  }
  void Change(const iceberg::TableUpdate& update) {
    const iceberg::CommitAnswer answer =
        Lake()->catalog().Commit(IcebergOptions::From(table_)->name, {{}, {update}});
    EXPECT_EQ(answer.outcome, iceberg::CommitOutcome::kDone) << answer.status.ToString();
  }

  // A snapshot that adds one file of deletes, as other writers make it.
  void AddDeletes(const iceberg::DataFile& file) {
    const auto lake = Lake();
    const iceberg::TableMetadata table = Metadata();
    const iceberg::Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
    auto writer = iceberg::ManifestWriter::Make(
        *table.FindSchema(table.current_schema_id), *table.FindSpec(table.default_spec_id),
        {.format_version = table.format_version, .content = iceberg::ManifestContent::kDeletes});
    ASSERT_TRUE(writer->Add({.file = file}).ok());
    auto written = std::move(writer->Finish()).value();
    written.manifest.manifest_path = table.location + "/metadata/" + lake->files().NewUuid() + "-m0.avro";
    ASSERT_TRUE(lake->files().Write(written.manifest.manifest_path, written.bytes).ok());
    auto manifests = *iceberg::ReadManifestList(*lake->files().Read(head.manifest_list), "list");
    manifests.push_back(written.manifest);
    iceberg::Snapshot snapshot{.snapshot_id = head.snapshot_id + 1,
                               .parent_snapshot_id = head.snapshot_id,
                               .sequence_number = table.last_sequence_number + 1,
                               .timestamp_ms = iceberg::NextTimestamp(table, Env::Real()->NowMillis()),
                               .summary = {{"operation", "delete"}},
                               .schema_id = table.current_schema_id,
                               .first_row_id = table.next_row_id,
                               .added_rows = 0};
    snapshot.manifest_list = table.location + "/metadata/" + lake->files().NewUuid() + ".avro";
    const auto list = iceberg::WriteManifestList(manifests, {.format_version = table.format_version,
                                                             .snapshot_id = snapshot.snapshot_id,
                                                             .parent_snapshot_id = head.snapshot_id,
                                                             .sequence_number = snapshot.sequence_number,
                                                             .first_row_id = table.next_row_id});
    ASSERT_TRUE(lake->files().Write(snapshot.manifest_list, list->bytes).ok());
    Change(iceberg::AddSnapshot{snapshot});
    Change(iceberg::SetSnapshotRef{"main", {.snapshot_id = snapshot.snapshot_id, .type = "branch"}});
  }
  std::string DataFilePath() {
    const iceberg::TableMetadata table = Metadata();
    return PlanScan(Lake()->files(), table, *table.FindSnapshot(*table.current_snapshot_id))
        ->files[0]
        .data.file.file_path;
  }

  // Reads of the declared columns `names`.
  Result<std::unique_ptr<Source>> Open(const std::vector<std::string>& names) {
    ReadRequest request;
    for (const std::string& name : names) {
      if (name == kOffsetColumn || name == kSplitColumn) {
        request.schema.fields.push_back(
            {name, Type(name == kOffsetColumn ? TypeId::kBigInt : TypeId::kInt, false)});
        continue;
      }
      for (size_t i = 0; i < table_.columns.size(); ++i) {
        if (table_.columns[i].name != name) continue;
        request.schema.fields.push_back({name, table_.columns[i].type});
        request.columns.push_back(static_cast<int>(i));
      }
    }
    return connector_.MakeSource(table_, request, {});
  }
  // The rows from a position on, and the position after each chunk.
  struct Reading {
    std::vector<std::string> rows;
    std::vector<std::pair<size_t, Position>> positions;  // rows until there
  };
  static Result<Reading> Read(Source& source, const Split& split, const Position& from) {
    ASSIGN_OR_RETURN(const auto reader, source.Open(split, from));
    Reading reading;
    for (;;) {
      ASSIGN_OR_RETURN(Poll poll, reader->Next());
      if (std::holds_alternative<Finished>(poll)) return reading;
      if (std::holds_alternative<SourceRows>(poll)) {
        const SourceRows& rows = std::get<SourceRows>(poll);
        for (int32_t i = 0; i < rows.chunk.size(); ++i) {
          std::string text;
          for (const ColumnPtr& column : rows.chunk.columns()) {
            text += Shown(ValueAt(*column, rows.chunk.rows()[i])) + "|";
          }
          reading.rows.push_back(text);
        }
        reading.positions.emplace_back(reading.rows.size(), reader->position());
      }
      std::this_thread::yield();
    }
  }
  static std::string Shown(const Value& value) {
    if (value.is_null()) return "-";
    if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
    if (const auto* number = std::get_if<int64_t>(&value.data)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value.data)) return std::to_string(*number);
    return "?";
  }
  // Of a table that grows: until no more came for a while.
  static Result<Reading> ReadWhile(SplitReader& reader, std::chrono::milliseconds silence) {
    Reading reading;
    auto last = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - last < silence) {
      ASSIGN_OR_RETURN(Poll poll, reader.Next());
      EXPECT_FALSE(std::holds_alternative<Finished>(poll));
      if (!std::holds_alternative<SourceRows>(poll)) continue;
      const SourceRows& rows = std::get<SourceRows>(poll);
      for (int32_t i = 0; i < rows.chunk.size(); ++i) {
        const int32_t row = rows.chunk.rows()[i];
        const RowKind kind = rows.chunk.kind(row);
        reading.rows.push_back((kind == RowKind::kInsert ? "" : RowKindName(kind)) +
                               Shown(ValueAt(*rows.chunk.column(0), row)));
      }
      reading.positions.emplace_back(reading.rows.size(), reader.position());
      last = std::chrono::steady_clock::now();
    }
    return reading;
  }
  // The ids that a streaming read gives, joined; or what is wrong.
  std::string Streamed(const Position& from = "", Position* at = nullptr) {
    const auto all = [&]() -> Result<std::string> {
      ASSIGN_OR_RETURN(const auto source, Open({"id"}));
      ASSIGN_OR_RETURN(const std::vector<Split> splits, source->MakeEnumerator()->Discover());
      ASSIGN_OR_RETURN(const auto reader, source->Open(splits[0], from));
      ASSIGN_OR_RETURN(const Reading reading, ReadWhile(*reader, std::chrono::milliseconds(300)));
      if (at != nullptr) *at = reader->position();
      std::string text;
      for (const std::string& row : reading.rows) text += (text.empty() ? "" : " ") + row;
      return text;
    };
    const Result<std::string> text = all();
    return text.ok() ? *text : text.status().ToString();
  }
  // The ids of the rows in the files that the filters leave.
  std::string Filtered(std::vector<ScanFilter> filters) {
    ReadRequest request;
    request.schema.fields.push_back({"id", table_.columns[0].type});
    request.columns.push_back(0);
    request.filters = std::move(filters);
    const auto source = std::move(connector_.MakeSource(table_, request, {})).value();
    std::string text;
    const auto reading = Read(*source, (*source->MakeEnumerator()->Discover())[0], "");
    if (!reading.ok()) return reading.status().ToString();
    std::vector<std::string> rows = reading->rows;
    std::sort(rows.begin(), rows.end());
    for (const std::string& row : rows) text += row;
    return text;
  }

  // All rows of all splits, sorted; or what is wrong.
  std::string Contents(const std::vector<std::string>& names) {
    const auto all = [&]() -> Result<std::string> {
      ASSIGN_OR_RETURN(const auto source, Open(names));
      ASSIGN_OR_RETURN(const std::vector<Split> splits, source->MakeEnumerator()->Discover());
      std::vector<std::string> rows;
      for (const Split& split : splits) {
        ASSIGN_OR_RETURN(const Reading reading, Read(*source, split, ""));
        rows.insert(rows.end(), reading.rows.begin(), reading.rows.end());
      }
      std::sort(rows.begin(), rows.end());
      std::string text;
      for (const std::string& row : rows) text += (text.empty() ? "" : " ") + row;
      return text;
    };
    const Result<std::string> text = all();
    return text.ok() ? *text : text.status().ToString();
  }

  std::string folder_;
  Table table_;
  IcebergConnector connector_;
  int64_t epoch_ = 0;
};

TEST_F(IcebergSourceTest, ReadsWhatTheSinkWroteAndGoesOnFromEachPosition) {
  for (int64_t file = 0; file < 5; ++file) Write(Rows(file * 5000, 5000));
  const std::string contents = Contents({"s", "small"});
  EXPECT_NE(contents.find(" row 2435|-35| "), std::string::npos);
  table_.options["caudal.source.splits"] = "2";
  auto source = std::move(Open({"id", "$offset", "$split"})).value();
  const auto splits = *source->MakeEnumerator()->Discover();
  ASSERT_EQ(splits.size(), 2u);
  std::vector<std::string> all;
  for (const Split& split : splits) {
    const auto whole = Read(*source, split, "");
    ASSERT_TRUE(whole.ok()) << whole.status().ToString();
    all.insert(all.end(), whole->rows.begin(), whole->rows.end());
    for (const auto& [rows, position] : whole->positions) {
      const auto rest = Read(*source, split, position);
      ASSERT_TRUE(rest.ok()) << rest.status().ToString();
      EXPECT_EQ(rest->rows,
                std::vector(whole->rows.begin() + static_cast<ptrdiff_t>(rows), whole->rows.end()));
    }
  }
  EXPECT_EQ(all.size(), 25'000u);
  EXPECT_THAT(all, ::testing::Contains("7003|2003|1|"));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(IcebergSourceTest, AQueryThatIsStartedAgainReadsTheSnapshotThatItBegan) {
  Write(Rows(0, 3));
  auto source = std::move(Open({"id"})).value();
  const Split split = (*source->MakeEnumerator()->Discover())[0];
  Write(Rows(3, 3));
  EXPECT_EQ(Read(*source, split, "")->rows.size(), 3u);
  EXPECT_EQ(Contents({"id"}), "0| 1| 2| 3| 4| 5|");
  // The table was made again: what is begun cannot be ended.
  ASSERT_TRUE(Lake()->catalog().DropTable(IcebergOptions::From(table_)->name).ok());
  Write(Rows(0, 3));
  EXPECT_THAT(Read(*source, split, "").status().ToString(), HasSubstr("it was dropped and made again"));
}

TEST_F(IcebergSourceTest, DeletedRowsAreLeftOut) {
  for (const char* version : {"2", "3"}) {
    table_.options["format-version"] = version;
    table_.options["catalog-table"] = std::string("v") + version;
    Write(Rows(0, 6));
    const std::string data = DataFilePath();
    iceberg::DataFile deletes;
    deletes.content = iceberg::FileContent::kPositionDeletes;
    if (*version == '2') {
      deletes.file_path = folder_ + "/deletes.parquet";
      auto file = std::move(FileSystem::Local()->Create(deletes.file_path)).value();
      const Schema schema{
          {{"file_path", Type::String().WithNullable(false)}, {"pos", Type(TypeId::kBigInt, false)}}};
      auto writer =
          std::move(ParquetWriter::Make(schema, {.field_ids = {2147483546, 2147483545}}, file.get()).value());
      ColumnBuilder paths(schema[0].type), rows(schema[1].type);
      for (const auto& [path, row] : {std::pair(data, 1), {data + "x", 2}, {data, 4}}) {
        paths.AppendString(path);
        rows.Append<int64_t>(row);
      }
      ASSERT_TRUE(writer->Append({paths.Finish(), rows.Finish()}, {nullptr, 3}).ok());
      ASSERT_TRUE(writer->Finish().ok());
      ASSERT_TRUE(file->Close().ok());
      deletes.record_count = 3;
    } else {
      deletes.file_path = folder_ + "/deletes.puffin";
      deletes.file_format = "PUFFIN";
      iceberg::PositionSet rows;
      rows.Add(1);
      rows.Add(4);
      iceberg::PuffinWriter puffin;
      const iceberg::PuffinBlob blob = puffin.AddDeletionVector(EncodeDeletionVector(rows), data, 2);
      ASSERT_TRUE(FileSystem::Local()->CreateIfAbsent(deletes.file_path, puffin.Finish("test")).ok());
      deletes.referenced_data_file = data;
      deletes.content_offset = blob.offset;
      deletes.content_size_in_bytes = blob.length;
      deletes.record_count = 2;
    }
    deletes.file_size_in_bytes = static_cast<int64_t>(std::filesystem::file_size(deletes.file_path));
    AddDeletes(deletes);
    EXPECT_EQ(Contents({"id"}), "0| 2| 3| 5|") << version;
    Write(Rows(6, 2));
    EXPECT_EQ(Contents({"id"}), "0| 2| 3| 5| 6| 7|") << "what is newer is not deleted";
  }
}

TEST_F(IcebergSourceTest, RowsDeletedByTheirValuesAreRefused) {
  Write(Rows(0, 6));
  iceberg::DataFile deletes;
  deletes.content = iceberg::FileContent::kEqualityDeletes;
  deletes.file_path = folder_ + "/equality.parquet";
  deletes.equality_ids = {1};
  deletes.record_count = 1;
  deletes.file_size_in_bytes = 1;
  AddDeletes(deletes);
  EXPECT_THAT(Contents({"id"}), HasSubstr("deletes rows by their values, which is not read yet"));
}

// KF-39: columns are found by id, whatever they were named when a file was written.
TEST_F(IcebergSourceTest, Kf39RenamedDroppedAddedAndWidenedColumns) {
  Declare({{"old_name", Type::String()},
           {"value", Type::String()},
           {"n", Type(TypeId::kInt)},
           {"f", Type(TypeId::kFloat)}});
  ColumnBuilder name(Type::String()), value(Type::String()), n(Type(TypeId::kInt)), f(Type(TypeId::kFloat));
  name.AppendString("before");
  value.AppendString("old");
  n.Append<int32_t>(7);
  f.Append<float>(1.5F);
  Write(Chunk({name.Finish(), value.Finish(), n.Finish(), f.Finish()}, 1));
  const int64_t first = *Metadata().current_snapshot_id;
  iceberg::Schema schema = *Metadata().FindSchema(0);
  schema.fields[0].name = "new_name";
  schema.fields[1] = {.id = 5, .name = "value", .type = iceberg::Type(iceberg::TypeId::kString)};
  schema.fields[2].type = iceberg::Type(iceberg::TypeId::kLong);
  schema.fields[3].type = iceberg::Type(iceberg::TypeId::kDouble);
  iceberg::Field with_default{.id = 6, .name = "d", .type = iceberg::Type(iceberg::TypeId::kLong)};
  with_default.initial_default = "42";
  schema.fields.push_back(with_default);
  with_default.id = 7;
  with_default.name = "price";
  with_default.type = *iceberg::ParsePrimitive("decimal(9, 2)");
  with_default.initial_default = "\"1.50\"";
  schema.fields.push_back(with_default);
  Change(iceberg::AddSchema{schema});
  Declare({{"d", Type(TypeId::kBigInt)},
           {"price", Type::Decimal(9, 2)},
           {"n", Type(TypeId::kBigInt)},
           {"value", Type::String()},
           {"new_name", Type::String()},
           {"f", Type(TypeId::kDouble)}});
  EXPECT_EQ(Contents({"new_name", "value", "n", "d", "f", "price"}), "before|-|7|42|1.500000|150|");
  EXPECT_EQ(Contents({}), "") << "a row without columns is a row";
  // A snapshot of before is read as it was.
  table_.options["snapshot-id"] = std::to_string(first);
  EXPECT_THAT(Contents({"d"}), HasSubstr("the table has no column 'd'"));
  EXPECT_THAT(Contents({"d"}), HasSubstr("columns are those of the snapshot's time"));
  EXPECT_EQ(Contents({"n"}), "7|") << "what it had is read, whatever was added since";
  Declare({{"old_name", Type::String()}, {"value", Type::String()}});
  EXPECT_EQ(Contents({"old_name", "value"}), "before|old|");
}

TEST_F(IcebergSourceTest, SnapshotsAreNamedInFourWays) {
  Write(Rows(0, 1));
  const iceberg::TableMetadata first = Metadata();
  Change(iceberg::SetSnapshotRef{"v1", {.snapshot_id = *first.current_snapshot_id, .type = "tag"}});
  Change(iceberg::SetSnapshotRef{"audit", {.snapshot_id = *first.current_snapshot_id, .type = "branch"}});
  Write(Rows(1, 1));
  const Table whole = table_;
  const auto with = [&](const char* option, const std::string& value) {
    table_ = whole;
    table_.options[option] = value;
    return Contents({"id"});
  };
  const std::string time = std::to_string(first.snapshot_log[0].timestamp_ms);
  EXPECT_EQ(with("branch", "main"), "0| 1|");
  EXPECT_EQ(with("branch", "audit"), "0|");
  EXPECT_EQ(with("tag", "v1"), "0|");
  EXPECT_EQ(with("snapshot-id", std::to_string(*first.current_snapshot_id)), "0|");
  EXPECT_EQ(with("as-of-timestamp", time), "0|");
  EXPECT_THAT(with("as-of-timestamp", "1000"),
              HasSubstr("the table has no snapshot of 1000 ms since 1970 or before"));
  EXPECT_THAT(with("tag", "audit"), HasSubstr("the table has no tag 'audit'"));
  EXPECT_THAT(with("snapshot-id", "5"), HasSubstr("the table has no snapshot '5'"));
  table_.options["branch"] = "audit";
  EXPECT_THAT(Contents({"id"}), HasSubstr("names a snapshot in 2 ways"));
}

TEST_F(IcebergSourceTest, TheMetadataIsReadAsTables) {
  table_.options["format-version"] = "3";
  table_.options["caudal.partition-by"] = "bucket(2, id)";
  Write(Rows(0, 6));
  Write(Rows(6, 6));
  const iceberg::TableMetadata metadata = Metadata();
  table_.options.erase("caudal.partition-by");
  const std::string first = std::to_string(metadata.snapshots[0].snapshot_id);
  const std::string second = std::to_string(metadata.snapshots[1].snapshot_id);
  const auto read = [&](const char* kind, const std::vector<Field>& columns) {
    table_.options["catalog-table"] = std::string("t$") + kind;
    Declare(columns);
    std::vector<std::string> names;
    for (const Field& column : columns) names.push_back(column.name);
    return Contents(names);
  };
  const Type number(TypeId::kBigInt), text = Type::String();
  // Sorted as text, so that the second comes first where its number is less.
  const auto both = [](std::string a, std::string b) { return a < b ? a + " " + b : b + " " + a; };
  EXPECT_EQ(read("snapshots", {{"snapshot_id", number}, {"parent_id", number}, {"operation", text}}),
            both(first + "|-|append|", second + "|" + first + "|append|"));
  EXPECT_THAT(read("snapshots", {{"summary", text}}), HasSubstr(R"("caudal.epoch":"2")"));
  EXPECT_EQ(read("history", {{"snapshot_id", number}, {"made_current_at", Type::TimestampLtz(3)}}),
            both(first + "|" + std::to_string(metadata.snapshots[0].timestamp_ms * 1000) + "|",
                 second + "|" + std::to_string(metadata.snapshots[1].timestamp_ms * 1000) + "|"));
  EXPECT_EQ(read("refs", {{"name", text}, {"type", text}, {"snapshot_id", number}}),
            "main|branch|" + second + "|");
  EXPECT_EQ(read("manifests", {{"added_files_count", Type(TypeId::kInt)}, {"added_rows_count", number}}),
            "2|6| 2|6|");
  const std::string files =
      read("files", {{"partition", text}, {"record_count", number}, {"content", Type(TypeId::kInt)}});
  EXPECT_THAT(files, HasSubstr("id_bucket=0|"));
  EXPECT_THAT(files, HasSubstr("id_bucket=1|"));
  EXPECT_THAT(read("partitions", {{"partition", text}, {"file_count", number}}),
              "id_bucket=0|2| id_bucket=1|2|");
  table_.options["snapshot-id"] = first;
  EXPECT_THAT(read("partitions", {{"partition", text}, {"file_count", number}}),
              "id_bucket=0|1| id_bucket=1|1|");
  EXPECT_THAT(read("refs", {{"size", number}}), HasSubstr("the table has no column 'size'"));
  const auto sink = connector_.MakeSink(table_, {});
  EXPECT_THAT(sink.status().ToString(), HasSubstr("is a metadata table, which cannot be written"));
}

TEST_F(IcebergSourceTest, WhatCannotBeReadIsSaid) {
  EXPECT_THAT(Contents({"id"}), HasSubstr("there is no catalog in"));
  Write(Rows(0, 2));
  Declare({{"ID", Type(TypeId::kBigInt)}});
  EXPECT_THAT(Contents({"ID"}), HasSubstr("column 'ID' is named 'id' in the table"));
  Declare({{"id", Type(TypeId::kInt)}});
  EXPECT_THAT(Contents({"id"}), HasSubstr("column 'id' is declared as INT, and the table has it as long"));
  Declare({{"small", Type(TypeId::kTinyInt)}});
  table_.options["catalog-table"] = "wide";
  Declare({{"small", Type(TypeId::kInt)}});
  ColumnBuilder wide(Type(TypeId::kInt));
  wide.Append<int32_t>(300);
  Write(Chunk({wide.Finish()}, 1));
  Declare({{"small", Type(TypeId::kTinyInt)}});
  EXPECT_THAT(Contents({"small"}), HasSubstr("300 is no TINYINT"));
  std::filesystem::remove(DataFilePath());
  EXPECT_THAT(Contents({"small"}), HasSubstr("no such file"));
  table_.options["catalog-table"] = "Wide";
  EXPECT_THAT(Contents({"small"}), HasSubstr("'default_database.wide' differs by case alone"));
}

TEST_F(IcebergSourceTest, ATableIsReadAsItGrowsAndGoesOnFromEachPosition) {
  Write(Rows(0, 2));
  Write(Rows(2, 2));
  table_.options["streaming"] = "true";
  table_.options["monitor-interval"] = "10 ms";
  EXPECT_EQ(Streamed(), "2 3");
  table_.options["starting-strategy"] = "INCREMENTAL_FROM_EARLIEST_SNAPSHOT";
  EXPECT_EQ(Streamed(), "0 1 2 3");
  table_.options["starting-strategy"] = "TABLE_SCAN_THEN_INCREMENTAL";
  auto source = std::move(Open({"id"})).value();
  EXPECT_FALSE(source->bounded());
  const Split split = (*source->MakeEnumerator()->Discover())[0];
  const auto reader = std::move(source->Open(split, "")).value();
  std::vector<std::string> all;
  std::vector<std::pair<size_t, Position>> positions = {{0, ""}};
  for (int64_t id : {4, 6, 8}) {
    const auto some = ReadWhile(*reader, std::chrono::milliseconds(200));
    ASSERT_TRUE(some.ok()) << some.status().ToString();
    for (const auto& [rows, position] : some->positions) positions.emplace_back(all.size() + rows, position);
    all.insert(all.end(), some->rows.begin(), some->rows.end());
    positions.emplace_back(all.size(), reader->position());
    Write(Rows(id, 2));
  }
  // A snapshot lists its newest files first.
  EXPECT_EQ(all, (std::vector<std::string>{"2", "3", "0", "1", "4", "5", "6", "7"}));
  // Each position that a checkpoint could have leads to the same rows, those that came since among them.
  all.insert(all.end(), {"8", "9"});
  for (const auto& [rows, position] : positions) {
    const auto again = std::move(source->Open(split, position)).value();
    const auto rest = ReadWhile(*again, std::chrono::milliseconds(200));
    ASSERT_TRUE(rest.ok()) << rest.status().ToString();
    EXPECT_EQ(rest->rows, std::vector(all.begin() + static_cast<ptrdiff_t>(rows), all.end())) << position;
  }
}

TEST_F(IcebergSourceTest, AStreamingReadOfAnEmptyTableWaitsForItsFirstRows) {
  const IcebergOptions options = *IcebergOptions::From(table_);
  ASSERT_TRUE(Lake()->catalog().CreateNamespace(options.name.space).ok());
  ASSERT_TRUE(Lake()->catalog().CreateTable(options.name, *NewIcebergTable(table_, options)).ok());
  table_.options["streaming"] = "true";
  table_.options["monitor-interval"] = "10 ms";
  auto source = std::move(Open({"id"})).value();
  const auto reader = std::move(source->Open((*source->MakeEnumerator()->Discover())[0], "")).value();
  EXPECT_EQ(ReadWhile(*reader, std::chrono::milliseconds(100))->rows.size(), 0u);
  Write(Rows(0, 3));
  EXPECT_EQ(ReadWhile(*reader, std::chrono::milliseconds(1000))->rows.size(), 3u);
}

TEST_F(IcebergSourceTest, AStreamingReadPassesOverRewritesAndStopsAtDeletes) {
  Write(Rows(0, 2));
  const auto kind_of_head = [this](const std::string& operation) {
    // As a compaction or a delete of whole files leaves it, as far as the reader looks.
    iceberg::TableMetadata table = Metadata();
    iceberg::Snapshot snapshot = *table.FindSnapshot(*table.current_snapshot_id);
    snapshot.parent_snapshot_id = snapshot.snapshot_id++;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = iceberg::NextTimestamp(table, Env::Real()->NowMillis());
    snapshot.summary["operation"] = operation;
    Change(iceberg::AddSnapshot{snapshot});
    Change(iceberg::SetSnapshotRef{"main", {.snapshot_id = snapshot.snapshot_id, .type = "branch"}});
  };
  table_.options["streaming"] = "true";
  table_.options["monitor-interval"] = "10 ms";
  table_.options["starting-strategy"] = "INCREMENTAL_FROM_EARLIEST_SNAPSHOT";
  kind_of_head("replace");
  Position rewritten;
  EXPECT_EQ(Streamed("", &rewritten), "0 1");
  EXPECT_THAT(rewritten, HasSubstr("\"done\":true"));
  kind_of_head("delete");
  EXPECT_THAT(Streamed(), HasSubstr("takes rows away ('delete'), which a streaming read does not follow"));
  EXPECT_THAT(Streamed(), HasSubstr("'streaming-changelog' = 'true' reads it as updates and deletes"));
  EXPECT_THAT(Streamed(), HasSubstr("'streaming-skip-delete-snapshots' = 'true'"));
  table_.options["streaming-skip-delete-snapshots"] = "true";
  EXPECT_EQ(Streamed(), "0 1");
  kind_of_head("overwrite");
  EXPECT_THAT(Streamed(), HasSubstr("takes rows away ('overwrite')"));
  table_.options["streaming-skip-overwrite-snapshots"] = "true";
  EXPECT_EQ(Streamed(), "0 1");
}

// A savepoint of several splits must not give each change several times.
TEST_F(IcebergSourceTest, SplitsOfAReadWithoutChangesAreNoneOfOneWithThem) {
  Write(Rows(0, 2));
  table_.options["streaming"] = "true";
  table_.options["caudal.source.splits"] = "2";
  const std::vector<Split> splits = (*std::move(Open({"id"})).value()->MakeEnumerator()->Discover());
  ASSERT_EQ(splits.size(), 2u);
  table_.options.erase("caudal.source.splits");
  table_.options["streaming-changelog"] = "true";
  const auto source = std::move(Open({"id"})).value();
  EXPECT_THAT(source->Open(splits[1], "").status().ToString(), HasSubstr("is of a read in 2 splits"));
}

TEST_F(IcebergSourceTest, AnUpsertedTableIsReadAsAChangelogAndGoesOnFromEachPosition) {
  table_.options["streaming"] = "true";
  table_.options["streaming-changelog"] = "true";
  table_.options["monitor-interval"] = "10 ms";
  for (const char* version : {"2", "3"}) {
    table_.options["format-version"] = version;
    table_.options["catalog-table"] = std::string("v") + version;
    table_.primary_key = {0};
    table_.columns[0].type = table_.columns[0].type.WithNullable(false);
    Write(Rows(0, 4000));
    // The rows that are there first, since changes of rows that were never read are of little use.
    auto source = std::move(Open({"s"})).value();
    const Split split = (*source->MakeEnumerator()->Discover())[0];
    Write(Rows(2000, 4000));
    Write(Rows(3999, 1));
    std::vector<std::string> wanted;
    const auto add = [&wanted](const char* kind, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) wanted.push_back(kind + ("row " + std::to_string(i)));
    };
    add("", 0, 4000);
    add("-U", 2000, 4000);
    add("+U", 2000, 4000);
    add("", 4000, 6000);
    add("-U", 3999, 4000);
    add("+U", 3999, 4000);
    const auto reader = std::move(source->Open(split, "")).value();
    const auto all = ReadWhile(*reader, std::chrono::milliseconds(300));
    ASSERT_TRUE(all.ok()) << all.status().ToString();
    EXPECT_EQ(all->rows, wanted) << version;
    EXPECT_GE(all->positions.size(), 5u) << "positions within a snapshot";
    for (const auto& [rows, position] : all->positions) {
      const auto again = std::move(source->Open(split, position)).value();
      const auto rest = ReadWhile(*again, std::chrono::milliseconds(100));
      ASSERT_TRUE(rest.ok()) << rest.status().ToString();
      EXPECT_EQ(rest->rows, std::vector(wanted.begin() + static_cast<ptrdiff_t>(rows), wanted.end()))
          << position;
    }
    // Without a key nothing tells which row took the place of which.
    table_.primary_key = {};
    table_.options["starting-strategy"] = "INCREMENTAL_FROM_LATEST_SNAPSHOT";
    EXPECT_EQ(Streamed(), "-D3999 3999");
    table_.options.erase("starting-strategy");
  }
}

TEST_F(IcebergSourceTest, WhatDoesNotGoWithAChangelogIsSaid) {
  const auto checked = [this](const Options& options) {
    Table table = table_;
    for (const auto& [name, value] : options) table.options[name] = value;
    return connector_.CheckOptions(table).ToString();
  };
  EXPECT_THAT(checked({{"streaming-changelog", "true"}}), HasSubstr("'streaming-changelog' has no effect"));
  const Options both = {{"streaming", "true"}, {"streaming-changelog", "true"}};
  const auto with = [&](const char* name, const char* value) {
    Options options = both;
    options[name] = value;
    return checked(options);
  };
  EXPECT_THAT(with("streaming-skip-delete-snapshots", "true"), HasSubstr("passes over what"));
  EXPECT_THAT(with("caudal.source.splits", "2"), HasSubstr("would tear the changes of one row apart"));
  EXPECT_EQ(with("starting-strategy", "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"), Status().ToString());
  Table table = table_;
  table.options.insert(both.begin(), both.end());
  EXPECT_EQ(connector_.source_changelog(table)->ToString(), "[I,D]");
  table.primary_key = {0};
  EXPECT_EQ(connector_.source_changelog(table)->ToString(), "[I,UB,UA,D]");
  table.options.erase("streaming-changelog");
  EXPECT_EQ(connector_.source_changelog(table)->ToString(), "[I]");
}

TEST_F(IcebergSourceTest, AStreamingReadSaysWhenItsPlaceIsGone) {
  Write(Rows(0, 2));
  table_.options["streaming"] = "true";
  table_.options["monitor-interval"] = "10 ms";
  auto source = std::move(Open({"id"})).value();
  const Split split = (*source->MakeEnumerator()->Discover())[0];
  const auto reader = std::move(source->Open(split, "")).value();
  ASSERT_EQ(ReadWhile(*reader, std::chrono::milliseconds(200))->rows.size(), 2u);
  // A branch that was set back, and went another way.
  iceberg::TableMetadata table = Metadata();
  iceberg::Snapshot other = *table.FindSnapshot(*table.current_snapshot_id);
  ++other.snapshot_id;
  other.sequence_number = table.last_sequence_number + 1;
  other.timestamp_ms = iceberg::NextTimestamp(table, Env::Real()->NowMillis());
  Change(iceberg::AddSnapshot{other});
  Change(iceberg::SetSnapshotRef{"main", {.snapshot_id = other.snapshot_id, .type = "branch"}});
  EXPECT_THAT(ReadWhile(*reader, std::chrono::milliseconds(300)).status().ToString(),
              HasSubstr("is no ancestor of snapshot"));
  table_.options["starting-strategy"] = "INCREMENTAL_FROM_SNAPSHOT_ID";
  EXPECT_THAT(Streamed(), HasSubstr("'start-snapshot-id' = '' is no number"));
  table_.options["start-snapshot-id"] = "17";
  EXPECT_THAT(Streamed(), HasSubstr("snapshot 17 is none of the branch's that are still there"));
  table_.options["start-snapshot-id"] = std::to_string(other.snapshot_id);
  table_.options["snapshot-id"] = "17";
  EXPECT_THAT(Streamed(), HasSubstr("'snapshot-id' names one snapshot, and 'streaming' reads all that come"));
}

TEST_F(IcebergSourceTest, FilesThatHoldNoWantedRowAreNotRead) {
  using Kind = ScanFilter::Kind;
  const auto value = [](int64_t number) { return Value(number); };
  table_.options["caudal.partition-by"] = "bucket(64, s)";
  for (int64_t id : {0, 10, 20}) Write(Rows(id, 1));
  EXPECT_EQ(Filtered({}), "0|10|20|");
  EXPECT_EQ(Filtered({{0, Kind::kIn, {value(10)}}}), "10|");
  EXPECT_EQ(Filtered({{0, Kind::kIn, {value(5), value(20)}}}), "20|");
  EXPECT_EQ(Filtered({{0, Kind::kLess, {value(10)}}}), "0|");
  EXPECT_EQ(Filtered({{0, Kind::kLessOrEqual, {value(10)}}}), "0|10|");
  EXPECT_EQ(Filtered({{0, Kind::kGreater, {value(10)}}}), "20|");
  EXPECT_EQ(Filtered({{0, Kind::kGreaterOrEqual, {value(10)}}, {0, Kind::kLess, {value(20)}}}), "10|");
  EXPECT_EQ(Filtered({{0, Kind::kIsNull, {}}}), "");
  EXPECT_EQ(Filtered({{0, Kind::kIsNotNull, {}}}), "0|10|20|");
  // `small` is NULL where the id is a multiple of three.
  EXPECT_EQ(Filtered({{1, Kind::kIsNull, {}}}), "0|");
  EXPECT_EQ(Filtered({{1, Kind::kIsNotNull, {}}}), "10|20|");
  EXPECT_EQ(Filtered({{1, Kind::kLess, {value(100)}}}), "10|20|");
  // By the partition alone: a bucket tells nothing of what is less.
  EXPECT_EQ(Filtered({{2, Kind::kIn, {Value(std::string("row 10"))}}}), "10|");
  EXPECT_EQ(Filtered({{2, Kind::kGreater, {Value(std::string("row 1"))}}}), "10|20|");
  // What a position counts is the same whatever is left out.
  ReadRequest request;
  request.schema.fields.push_back({"id", table_.columns[0].type});
  request.columns.push_back(0);
  request.filters = {{0, Kind::kIn, {value(0)}}};
  const auto narrow = std::move(connector_.MakeSource(table_, request, {})).value();
  auto all = std::move(Open({"id"})).value();
  const Split split = (*all->MakeEnumerator()->Discover())[0];
  const auto whole = Read(*all, split, "");
  ASSERT_EQ(whole->positions.size(), 3u);
  EXPECT_EQ(Read(*narrow, split, whole->positions[0].second)->rows, std::vector<std::string>{"0|"});
  EXPECT_EQ(Read(*narrow, split, whole->positions[2].second)->rows.size(), 0u);
}

TEST_F(IcebergSourceTest, TimeIsFoundByItsPartition) {
  using Kind = ScanFilter::Kind;
  constexpr int64_t kDay = 86'400'000'000;
  table_.options["caudal.partition-by"] = "day(ts)";
  table_.options["catalog-table"] = "times";
  table_.options["write.metadata.metrics.default"] = "none";
  Declare({{"id", Type(TypeId::kBigInt)}, {"ts", Type::Timestamp(6)}});
  for (int64_t day : {-1, 0, 1}) {
    ColumnBuilder id(Type(TypeId::kBigInt)), ts(Type::Timestamp(6));
    id.Append<int64_t>(day);
    ts.Append<int64_t>(day * kDay + 5);
    Write(Chunk({id.Finish(), ts.Finish()}, 1));
  }
  EXPECT_EQ(Filtered({{1, Kind::kLess, {Value(int64_t{0})}}}), "-1|");
  EXPECT_EQ(Filtered({{1, Kind::kGreaterOrEqual, {Value(kDay)}}}), "1|");
  EXPECT_EQ(Filtered({{1, Kind::kIn, {Value(int64_t{5})}}}), "0|");
}

TEST_F(IcebergSourceTest, ALookupFindsTheRowsOfKeysInTheNewestSnapshot) {
  Write(Rows(0, 3));
  const auto found = [&](LookupReader& reader, const std::vector<int64_t>& ids) {
    ColumnBuilder keys(Type(TypeId::kBigInt));
    for (const int64_t id : ids) keys.Append<int64_t>(id);
    const auto rows = reader.Find(Chunk({keys.Finish()}, static_cast<int32_t>(ids.size())));
    if (!rows.ok()) return rows.status().ToString();
    std::string text;
    for (size_t i = 0; i < rows->key_of_row.size(); ++i) {
      text += std::to_string(rows->key_of_row[i]) + ":" +
              Shown(ValueAt(*rows->columns[0], static_cast<int32_t>(i))) + "|";
    }
    return text;
  };
  const LookupRequest request{{0}, {2}, Schema{{{"s", Type::String()}}}};
  MemoryBudget budget("query", 1 << 20);
  ConnectorContext context;
  context.budget = &budget;
  const auto make = [&](const std::string& interval) {
    table_.options["lookup.full-cache.periodic-reload.interval"] = interval;
    auto made = connector_.MakeLookup(table_, request, context);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return std::move(made).value();
  };
  const auto seldom = make("1 h"), always = make("0 ms");
  EXPECT_EQ(found(*seldom, {2, 7, 0}), "0:row 2|2:row 0|");
  EXPECT_EQ(found(*always, {2, 7, 0}), "0:row 2|2:row 0|");
  EXPECT_GT(budget.used(), 0);
  Write(Rows(7, 1));
  EXPECT_EQ(found(*seldom, {2, 7, 0}), "0:row 2|2:row 0|");
  EXPECT_EQ(found(*always, {2, 7, 0}), "0:row 2|1:row 7|2:row 0|");
  for (int64_t more : {100, 20'000}) Write(Rows(more, 20'000));
  EXPECT_THAT(found(*always, {2}), HasSubstr("the rows of the table take more than 1048576 bytes"));
  table_.options["catalog-table"] = "nowhere";
  EXPECT_THAT(connector_.MakeLookup(table_, request, context).status().ToString(),
              HasSubstr("there is no table 'default_database.nowhere'"));
}

}  // namespace
}  // namespace caudal
