// Manifests of our own, read back; and those of two tables that Spark wrote.
#include "iceberg/manifest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/single_value.h"
#include "iceberg/testing/fixtures.h"

namespace caudal::iceberg {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

Schema TestSchema() {
  return ParseSchema(R"x({"type":"struct","schema-id":3,"fields":[
      {"id":1,"name":"id","required":true,"type":"long"},
      {"id":2,"name":"price","required":false,"type":"decimal(10, 2)"},
      {"id":3,"name":"ts","required":false,"type":"timestamptz"},
      {"id":4,"name":"x","required":false,"type":"double"},
      {"id":5,"name":"u","required":false,"type":"uuid"},
      {"id":6,"name":"s","required":false,"type":"string"}]})x")
      .value();
}

PartitionSpec TestSpec() {
  return {.spec_id = 7,
          .fields = {{.source_ids = {2}, .field_id = 1000, .name = "price", .transform = "identity"},
                     {.source_ids = {3}, .field_id = 1001, .name = "ts_day", .transform = "day"},
                     {.source_ids = {4}, .field_id = 1002, .name = "x", .transform = "identity"},
                     {.source_ids = {5}, .field_id = 1003, .name = "u", .transform = "identity"},
                     {.source_ids = {5}, .field_id = 1004, .name = "u-again", .transform = "identity"},
                     {.source_ids = {6}, .field_id = 1005, .name = "s_trunc", .transform = "truncate[2]"},
                     {.source_ids = {1}, .field_id = 1006, .name = "nothing", .transform = "void"}}};
}

std::vector<Value> Tuple(int64_t price, int64_t day, double x) {
  const Value uuid("0123456789abcdef"s);
  return {Value(int128_t{price}), Value(day), Value(x), uuid, uuid, Value("é!"s), Value()};
}

ManifestEntry Added(const std::string& path, std::vector<Value> partition, int64_t rows) {
  ManifestEntry entry;
  entry.file = {
      .file_path = path, .partition = std::move(partition), .record_count = rows, .file_size_in_bytes = 1000};
  return entry;
}

DataFile FullFile() {
  DataFile file{.file_path = "s3://b/a b.parquet", .partition = Tuple(-1, 3, 0.5), .record_count = 5};
  file.file_size_in_bytes = 77;
  file.column_sizes = {{1, 10}, {2, 20}};
  file.value_counts = {{1, 5}};
  file.null_value_counts = {{1, 0}, {6, 2}};
  file.nan_value_counts = {{4, 1}};
  file.lower_bounds = {{1, "\1\0\0\0\0\0\0\0"s}};
  file.upper_bounds = {{1, "\5\0\0\0\0\0\0\0"s}, {6, ""}};
  file.key_metadata = "k";
  file.split_offsets = {4, 100};
  file.sort_order_id = 1;
  return file;
}

ManifestWriter Writer(int format_version, ManifestContent content = ManifestContent::kData) {
  return ManifestWriter::Make(TestSchema(), TestSpec(),
                              {.format_version = format_version, .content = content})
      .value();
}

std::vector<ManifestEntry> ReadAll(const std::string& bytes, const ManifestFile& manifest) {
  std::vector<ManifestEntry> entries;
  auto reader = ManifestReader::Open(bytes, manifest);
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  while (reader.ok()) {
    auto entry = (*reader)->Next();
    EXPECT_TRUE(entry.ok()) << entry.status().ToString();
    if (!entry.ok() || !entry->has_value()) break;
    entries.push_back(std::move(**entry));
  }
  return entries;
}

TEST(Manifest, EveryFieldComesBack) {
  for (int version : {2, 3}) {
    ManifestWriter writer = Writer(version);
    ManifestEntry existing{.status = EntryStatus::kExisting,
                           .snapshot_id = 5,
                           .sequence_number = 3,
                           .file_sequence_number = 4,
                           .file = FullFile()};
    if (version == 3) existing.file.first_row_id = 40;
    ASSERT_TRUE(writer.Add(existing).ok());
    auto written = writer.Finish();
    ASSERT_TRUE(written.ok());
    written->manifest.sequence_number = 9;
    EXPECT_EQ(ReadAll(written->bytes, written->manifest), std::vector{existing}) << version;
    EXPECT_EQ(written->manifest.min_sequence_number, 3);
  }
}

TEST(Manifest, AddedFilesTakeTheirNumbersFromTheList) {
  ManifestWriter writer = Writer(3);
  ASSERT_TRUE(writer.Add(Added("/a", Tuple(1, 0, 1), 10)).ok());
  ManifestEntry old = Added("/old", Tuple(1, 0, 1), 7);
  old.status = EntryStatus::kDeleted;
  old.snapshot_id = 2;
  old.sequence_number = old.file_sequence_number = 1;
  old.file.first_row_id = 0;
  ASSERT_TRUE(writer.Add(old).ok());
  ASSERT_TRUE(writer.Add(Added("/b", Tuple(2, 0, 1), 5)).ok());
  // Rewritten from older files: its data number is given, its file number is not.
  ManifestEntry compacted = Added("/c", Tuple(2, 0, 1), 1);
  compacted.sequence_number = 4;
  ASSERT_TRUE(writer.Add(compacted).ok());
  auto written = writer.Finish();
  ASSERT_TRUE(written.ok());
  ManifestFile line = written->manifest;
  EXPECT_EQ(line.min_sequence_number, 4);
  EXPECT_EQ(line.added_rows_count, 16);
  EXPECT_EQ(line.deleted_rows_count, 7);
  line.manifest_path = "/m.avro";

  auto list = WriteManifestList(
      {line}, {.format_version = 3, .snapshot_id = 77, .sequence_number = 12, .first_row_id = 100});
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  EXPECT_EQ(list->added_rows, 16);
  const auto lines = ReadManifestList(list->bytes, "l.avro");
  ASSERT_TRUE(lines.ok()) << lines.status().ToString();
  ASSERT_EQ(lines->size(), 1u);
  EXPECT_EQ((*lines)[0].sequence_number, 12);
  EXPECT_EQ((*lines)[0].added_snapshot_id, 77);
  const auto entries = ReadAll(written->bytes, (*lines)[0]);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].snapshot_id, 77);
  EXPECT_EQ(entries[0].sequence_number, 12);
  EXPECT_EQ(entries[0].file.first_row_id, 100);
  EXPECT_EQ(entries[1], old);
  EXPECT_EQ(entries[2].file.first_row_id, 110);
  EXPECT_EQ(entries[3].sequence_number, 4);
  EXPECT_EQ(entries[3].file_sequence_number, 12);
  EXPECT_EQ(entries[3].file.first_row_id, 115);
}

TEST(Manifest, RowIdsGoToDataManifestsWithoutThem) {
  ManifestFile has{.manifest_path = "/1",
                   .sequence_number = 1,
                   .min_sequence_number = 1,
                   .added_snapshot_id = 1,
                   .added_files_count = 1,
                   .added_rows_count = 10,
                   .first_row_id = 3};
  ManifestFile lacks{.manifest_path = "/2",
                     .added_files_count = 1,
                     .existing_files_count = 1,
                     .added_rows_count = 4,
                     .existing_rows_count = 6};
  ManifestFile deletes{.manifest_path = "/3",
                       .content = ManifestContent::kDeletes,
                       .added_files_count = 1,
                       .added_rows_count = 9};
  const ManifestListOptions options{
      .format_version = 3, .snapshot_id = 5, .sequence_number = 2, .first_row_id = 50};
  auto list = WriteManifestList({lacks, has, deletes, lacks}, options);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->added_rows, 20);
  const auto lines = ReadManifestList(list->bytes, "l").value();
  EXPECT_EQ(lines[0].first_row_id, 50);
  EXPECT_EQ(lines[0].min_sequence_number, 2);
  EXPECT_EQ(lines[1], has);
  EXPECT_EQ(lines[2].first_row_id, std::nullopt);
  EXPECT_EQ(lines[3].first_row_id, 60);
}

TEST(Manifest, SummariesHoldEveryPartition) {
  ManifestWriter writer = Writer(2);
  ASSERT_TRUE(writer.Add(Added("/a", Tuple(-100, 5, 2), 1)).ok());
  ASSERT_TRUE(writer.Add(Added("/b", Tuple(90, -5, std::nan("")), 1)).ok());
  ASSERT_TRUE(writer.Add(Added("/c", Tuple(0, 0, -0.0), 1)).ok());
  ASSERT_TRUE(writer.Add(Added("/d", Tuple(0, 0, 0.0), 1)).ok());
  std::vector<Value> nulls(7);
  ASSERT_TRUE(writer.Add(Added("/e", nulls, 1)).ok());
  const auto manifest = writer.Finish()->manifest;
  EXPECT_EQ(manifest.partition_spec_id, 7);
  EXPECT_EQ(manifest.partitions[0], (FieldSummary{true, false, EncodeDecimal(-100), EncodeDecimal(90)}));
  EXPECT_EQ(manifest.partitions[1], (FieldSummary{true, false, "\xfb\xff\xff\xff"s, "\5\0\0\0"s}));
  EXPECT_EQ(manifest.partitions[2], (FieldSummary{true, true, "\0\0\0\0\0\0\0\x80"s, "\0\0\0\0\0\0\0\x40"s}));
  EXPECT_EQ(manifest.partitions[5].lower_bound, "é!");
  EXPECT_EQ(manifest.partitions[6], (FieldSummary{true, false, std::nullopt, std::nullopt}));
}

TEST(Manifest, DeletionVectorsHaveAPlace) {
  ManifestWriter writer = Writer(3, ManifestContent::kDeletes);
  ManifestEntry vector = Added("/dv.puffin", Tuple(1, 1, 1), 3);
  vector.file.content = FileContent::kPositionDeletes;
  vector.file.file_format = "PUFFIN";
  EXPECT_THAT(writer.Add(vector).message(), HasSubstr("a deletion vector without its place"));
  vector.file.referenced_data_file = "/a";
  vector.file.content_offset = 4;
  vector.file.content_size_in_bytes = 40;
  ASSERT_TRUE(writer.Add(vector).ok());
  EXPECT_THAT(Writer(2, ManifestContent::kDeletes).Add(vector).message(),
              HasSubstr("deletion vectors are of format 3"));
  auto written = writer.Finish();
  written->manifest.sequence_number = 1;
  const auto entries = ReadAll(written->bytes, written->manifest);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].file, vector.file);
  EXPECT_TRUE(entries[0].file.is_deletion_vector());
}

TEST(Manifest, WhatMustNotBeWrittenIsRefused) {
  ManifestWriter writer = Writer(2);
  ManifestEntry entry = Added("/a", {}, 1);
  EXPECT_THAT(writer.Add(entry).message(), HasSubstr("its partition is of another spec"));
  entry = Added("/a", Tuple(1, 1, 1), 1);
  entry.status = EntryStatus::kExisting;
  EXPECT_THAT(writer.Add(entry).message(), HasSubstr("has no sequence numbers"));
  entry.status = EntryStatus::kAdded;
  entry.file.content = FileContent::kEqualityDeletes;
  EXPECT_THAT(writer.Add(entry).message(), HasSubstr("it is of the other content"));
  PartitionSpec spec = TestSpec();
  spec.fields[0].transform = "zorder";
  EXPECT_THAT(
      ManifestWriter::Make(TestSchema(), spec, {}).status().ToString(),
      HasSubstr("error[user]: the partition field 'price' has the transform 'zorder', which is not known"));
  spec.fields[0].transform = "hour";
  EXPECT_THAT(ManifestWriter::Make(TestSchema(), spec, {}).status().message(), HasSubstr("has no meaning"));
  spec.fields[0].source_ids = {99};
  EXPECT_THAT(ManifestWriter::Make(TestSchema(), spec, {}).status().message(),
              HasSubstr("made of column 99"));
}

TEST(Manifest, TheSchemaIsWhatOtherReadersNeed) {
  const std::string entry =
      ManifestEntrySchema(3, TestSpec(), PartitionTypes(TestSchema(), TestSpec()).value()).ToJson();
  EXPECT_THAT(
      entry,
      HasSubstr(
          R"({"type":"record","name":"manifest_entry","fields":[{"name":"status","type":"int","field-id":0})"));
  EXPECT_THAT(entry, HasSubstr(R"({"name":"partition","type":{"type":"record","name":"r102","fields":[)"));
  EXPECT_THAT(
      entry, HasSubstr(R"("name":"decimal_10_2","size":5,"logicalType":"decimal","precision":10,"scale":2)"));
  EXPECT_THAT(
      entry,
      HasSubstr(
          R"({"name":"u_x2Dagain","type":["null",{"type":"fixed","name":"uuid_fixed_1004","size":16,"logicalType":"uuid"}],"default":null,"field-id":1004,"iceberg-field-name":"u-again"})"));
  EXPECT_THAT(
      entry,
      HasSubstr(
          R"({"type":"array","items":{"type":"record","name":"k117_v118","fields":[{"name":"key","type":"int","field-id":117})"));
  EXPECT_THAT(ManifestListSchema(2).ToJson(), HasSubstr(R"({"type":"record","name":"manifest_file",)"));
  EXPECT_THAT(ManifestListSchema(2).ToJson(), Not(HasSubstr("first_row_id")));
  EXPECT_EQ(AvroName("1st é"), "_1st_x20_xC3_xA9");
}

// The table's current entries by the last part of their paths, out of test/fixtures.
std::map<std::string, ManifestEntry> FixtureEntries(const std::string& table) {
  std::map<std::string, ManifestEntry> found;
  const auto lines = ReadManifestList(Contents(kFixtures / table / "manifest_list.avro"), "list");
  EXPECT_TRUE(lines.ok()) << lines.status().ToString();
  if (!lines.ok()) return found;
  for (const ManifestFile& line : *lines) {
    const auto name = std::filesystem::path(line.manifest_path).filename();
    for (ManifestEntry& entry : ReadAll(Contents(kFixtures / table / name), line)) {
      const auto path = std::filesystem::path(entry.file.file_path).filename().string();
      const std::string key =
          path.substr(0, 9) +
          (entry.file.is_deletion_vector() ? "@" + std::to_string(*entry.file.content_offset) : "");
      found.emplace(key, std::move(entry));
    }
  }
  return found;
}

TEST(Manifest, SparksDeletionVectorsAreRead) {
  const auto entries = FixtureEntries("v3_deletion_vectors");
  ASSERT_EQ(entries.size(), 7u);
  const ManifestEntry& first = entries.at("00000-129");
  EXPECT_EQ(first.sequence_number, 1);
  EXPECT_EQ(first.file.first_row_id, 0);
  EXPECT_EQ(first.file.lower_bounds.at(2), "v0");
  EXPECT_EQ(entries.at("00000-130").file.first_row_id, 20);
  EXPECT_EQ(entries.at("00000-136").file.first_row_id, 30);
  EXPECT_EQ(entries.at("00000-136").sequence_number, 5);
  const ManifestEntry& vector = entries.at("00000-136@48");
  EXPECT_EQ(vector.file.record_count, 6);
  EXPECT_EQ(vector.file.content_size_in_bytes, 52);
  EXPECT_EQ(*vector.file.referenced_data_file, first.file.file_path);
  EXPECT_EQ(entries.at("00000-134@4").status, EntryStatus::kDeleted);
  EXPECT_EQ(entries.at("00000-134@4").sequence_number, 4);
}

TEST(Manifest, SparksPartitionsAreRead) {
  const auto entries = FixtureEntries("v2_partition_evolved");
  ASSERT_EQ(entries.size(), 3u);  // two of the five share their first nine characters
  EXPECT_EQ(entries.at("00000-159").file.partition, std::vector{Value(int64_t{20454})});
  EXPECT_EQ(entries.at("00000-161").file.partition, std::vector{Value(int64_t{490931})});
  EXPECT_EQ(entries.at("00000-163").file.partition, (std::vector{Value(int64_t{490944}), Value(int64_t{1})}));
}

TEST(Manifest, DamageIsNamed) {
  const std::string bytes = Contents(kFixtures / "v3_deletion_vectors" / "manifest_list.avro");
  const auto lines = ReadManifestList(bytes, "list").value();
  ManifestFile line = lines[0];
  const std::string manifest =
      Contents(kFixtures / "v3_deletion_vectors" / std::filesystem::path(line.manifest_path).filename());
  line.partition_spec_id = 4;
  EXPECT_THAT(ManifestReader::Open(manifest, line).status().ToString(),
              HasSubstr("no manifest: it is of spec 0, in the list it is of spec 4\n  at the header of "
                        "manifest 'file:/tmp/"));
  line = lines[0];
  line.content = ManifestContent::kDeletes;
  EXPECT_THAT(ManifestReader::Open(manifest, line).status().ToString(),
              HasSubstr("it holds data, in the list the other"));
  EXPECT_THAT(ManifestReader::Open(bytes, lines[0]).status().ToString(),
              HasSubstr("no manifest: its entries have no data_file (id 2)"));
  EXPECT_THAT(ReadManifestList(manifest, "m").status().ToString(),
              HasSubstr("the field 'manifest_path' (id 500) is missing or of another type\n  at record 0 of "
                        "manifest list 'm'"));
}

}  // namespace
}  // namespace caudal::iceberg
