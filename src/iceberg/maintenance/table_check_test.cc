// Every promise of a table is broken once, and the check names it and the place.
#include "iceberg/maintenance/table_check.h"

#include <gmock/gmock.h>

#include <functional>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/puffin.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {
namespace {

using testing::HasSubstr;

// Two files, of which one has lost a row.
class TableCheckTest : public testing::Test {
 protected:
  explicit TableCheckTest(int format_version = 3) : small_(format_version) {
    a_ = small_.Write(0, 10, 0);
    b_ = small_.Write(100, 10, 1);
    first_ = small_.Commit({a_, b_});
    second_ = small_.Commit({}, {{a_.file_path, {3}}});
    small_.Append(200, 5, 2);
  }

  TableCheckReport Check(const TableMetadata& table, bool all = true) {
    auto report = CheckTable(small_.files_, table, {.all = all});
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? std::move(report).value() : TableCheckReport();
  }
  // What the first violation is, of all that there are.
  std::string First(const TableMetadata& table) {
    const auto one = Check(table, false).violations;
    const auto all = Check(table, true).violations;
    EXPECT_LE(one.size(), 1u);
    if (one.empty() || all.empty()) return all.empty() ? "" : "only with all";
    EXPECT_EQ(one[0], all[0]);
    return one[0].place + ": " + one[0].what;
  }
  std::string After(const std::function<void(TableMetadata*)>& damage) {
    TableMetadata table = small_.table();
    damage(&table);
    return First(table);
  }

  // The head with a line of its manifest list changed.
  std::string AfterLine(ManifestContent content, const std::function<void(ManifestFile*)>& damage) {
    return AfterLines([&](std::vector<ManifestFile>* lines) {
      for (ManifestFile& line : *lines) {
        if (line.content == content) return damage(&line);
      }
    });
  }
  std::string AfterLines(const std::function<void(std::vector<ManifestFile>*)>& damage) {
    TableMetadata table = small_.table();
    Snapshot& head = table.snapshots.Change(table.snapshots.size() - 1);
    auto lines = ReadManifestList(small_.files_.Read(head.manifest_list).value(), "").value();
    damage(&lines);
    const auto list = WriteManifestList(lines, {.format_version = table.format_version,
                                                .snapshot_id = head.snapshot_id,
                                                .parent_snapshot_id = head.parent_snapshot_id,
                                                .sequence_number = head.sequence_number});
    head.manifest_list = "/w/list" + std::to_string(++written_);
    EXPECT_TRUE(small_.files_.Write(head.manifest_list, list->bytes).ok());
    if (!totals_) head.summary.clear();
    table.snapshots = {head};
    table.refs.clear();
    table.snapshot_log.clear();
    return First(table);
  }
  // The head with one live entry changed, in a manifest of its own that says the same of itself.
  std::string AfterEntry(ManifestContent content,
                         const std::function<void(std::vector<ManifestEntry>*)>& damage) {
    const TableMetadata table = small_.table();
    return AfterLines([&](std::vector<ManifestFile>* lines) {
      std::vector<ManifestEntry> entries;
      std::erase_if(*lines, [&](const ManifestFile& line) {
        if (line.content != content) return false;
        const std::string bytes = small_.files_.Read(line.manifest_path).value();
        const auto reader = ManifestReader::Open(bytes, line).value();
        while (auto entry = reader->Next().value()) {
          entry->status = EntryStatus::kExisting;
          entries.push_back(*entry);
        }
        return true;
      });
      damage(&entries);
      ManifestWriter writer =
          ManifestWriter::Make(table.schemas[0], table.partition_specs[0],
                               {.format_version = table.format_version, .content = content})
              .value();
      for (const ManifestEntry& entry : entries) EXPECT_TRUE(writer.Add(entry).ok());
      ManifestWriter::Written written = writer.Finish().value();
      written.manifest.manifest_path = "/w/manifest" + std::to_string(++written_);
      EXPECT_TRUE(small_.files_.Write(written.manifest.manifest_path, written.bytes).ok());
      written.manifest.first_row_id = 0;
      lines->push_back(written.manifest);
    });
  }
  std::string AfterVector(const std::function<void(PuffinWriter*, ManifestEntry*)>& damage) {
    return AfterEntry(ManifestContent::kDeletes, [&](std::vector<ManifestEntry>* entries) {
      PuffinWriter puffin;
      ManifestEntry& entry = entries->front();
      damage(&puffin, &entry);
      const std::string bytes = puffin.Finish("test");
      entry.file.file_path = "/w/vector" + std::to_string(++written_);
      entry.file.file_size_in_bytes = static_cast<int64_t>(bytes.size());
      EXPECT_TRUE(small_.files_.Write(entry.file.file_path, bytes).ok());
    });
  }
  static void Put(PuffinWriter* puffin, ManifestEntry* entry, const std::vector<int64_t>& positions) {
    PositionSet set;
    for (const int64_t position : positions) set.Add(position);
    const PuffinBlob blob =
        puffin->AddDeletionVector(EncodeDeletionVector(set), *entry->file.referenced_data_file, set.size());
    entry->file.content_offset = blob.offset;
    entry->file.content_size_in_bytes = blob.length;
    entry->file.record_count = set.size();
  }

  SmallTable small_;
  DataFile a_, b_;
  int64_t first_ = 0, second_ = 0;
  int written_ = 0;
  bool totals_ = true;  // the head's summary tells them
};

class TableCheckFormat2Test : public TableCheckTest {
 protected:
  TableCheckFormat2Test() : TableCheckTest(2) {}
};

TEST_F(TableCheckTest, AWholeTableHasNone) {
  const TableCheckReport report = Check(small_.table());
  EXPECT_EQ(report.violations, std::vector<Violation>());
  EXPECT_EQ(report.snapshots, 3);
  EXPECT_EQ(report.manifests, 3);
  EXPECT_EQ(report.files, 4);
  EXPECT_GT(report.bytes, a_.file_size_in_bytes + b_.file_size_in_bytes);
  // What the damages below do besides is none.
  EXPECT_EQ(AfterLines([](auto*) {}), "");
  EXPECT_EQ(AfterEntry(ManifestContent::kData, [](auto*) {}), "");
  EXPECT_EQ(AfterVector([](PuffinWriter* puffin, ManifestEntry* entry) { Put(puffin, entry, {3, 9}); }), "");
}

TEST_F(TableCheckFormat2Test, AWholeTableHasNone) {
  EXPECT_EQ(Check(small_.table()).violations, std::vector<Violation>());
}

TEST_F(TableCheckTest, MetadataThatContradictsItself) {
  EXPECT_THAT(After([](auto* t) { t->last_column_id = 1; }),
              HasSubstr("schema 0: it has the field id 2, and last-column-id is 1"));
  EXPECT_THAT(After([](auto* t) { t->schemas[0].identifier_field_ids = {9}; }),
              HasSubstr("identifier field 9 is none"));
  EXPECT_THAT(After([](auto* t) { t->last_partition_id = 999; }), HasSubstr("last-partition-id is 999"));
  EXPECT_THAT(After([](auto* t) { t->partition_specs[0].fields[0].source_ids = {9}; }),
              HasSubstr("partition spec 0: "));
  EXPECT_THAT(After([](auto* t) { t->last_sequence_number = 2; }),
              HasSubstr("it has the sequence number 3, and last-sequence-number is 2"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(1).sequence_number = 1; }),
              HasSubstr("it has the sequence number 1, as snapshot"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(1).parent_snapshot_id = t->snapshots[2].snapshot_id; }),
              HasSubstr("and its parent"));
  EXPECT_THAT(After([](auto* t) { t->last_updated_ms -= 3'600'000; }), HasSubstr("last-updated-ms"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(0).schema_id = 8; }),
              HasSubstr("there is no schema 8"));
  EXPECT_THAT(After([](auto* t) { t->next_row_id -= 1; }),
              HasSubstr("its row ids end at 25, and next-row-id is 24"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(2).first_row_id = 7; }),
              HasSubstr("its row ids begin at 7, and 20 are taken"));
  EXPECT_THAT(After([](auto* t) {
                t->refs["x"] = {77, "tag"};
              }),
              HasSubstr("ref 'x': it is at snapshot 77, which is not there"));
  EXPECT_THAT(After([](auto* t) { t->snapshot_log.pop_back(); }),
              HasSubstr("snapshot-log: its last entry is snapshot"));
  EXPECT_THAT(After([](auto* t) { t->snapshot_log[1].timestamp_ms -= 3'600'000; }),
              HasSubstr("and the one before it at"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(0).summary["total-records"] = "21"; }),
              HasSubstr("its summary says total-records = 21, and there are 20"));
  EXPECT_THAT(After([](auto* t) { t->snapshots.Change(1).summary["total-delete-files"] = "0"; }),
              HasSubstr("total-delete-files = 0, and there are 1"));
}

TEST_F(TableCheckTest, StatisticsThatAreNotThere) {
  EXPECT_THAT(After([](auto* t) {
                t->unknown.emplace_back("statistics",
                                        R"([{"snapshot-id": )" + std::to_string(*t->current_snapshot_id) +
                                            R"(, "statistics-path": "/w/none", "file-size-in-bytes": 9}])");
              }),
              HasSubstr("file '/w/none': the file is not there"));
  EXPECT_THAT(After([](auto* t) {
                t->unknown.emplace_back(
                    "partition-statistics",
                    R"([{"snapshot-id": 77, "statistics-path": "/w/none", "file-size-in-bytes": 9}])");
              }),
              HasSubstr("there is no snapshot 77"));
  EXPECT_THAT(After([](auto* t) { t->unknown.emplace_back("statistics", R"([{"snapshot-id": 1}])"); }),
              HasSubstr("statistics[0].statistics-path is missing"));
}

TEST_F(TableCheckTest, FilesThatAreGoneOrOthers) {
  const TableMetadata table = small_.table();
  const std::string list = table.snapshots[0].manifest_list;
  const std::string bytes = small_.files_.Read(a_.file_path).value();
  small_.memory_.Overwrite(a_.file_path, bytes + "x");
  EXPECT_THAT(First(table), HasSubstr("file '/w/db/t/data/0.parquet': it has"));
  small_.memory_.Overwrite(a_.file_path, std::string(bytes.size(), 'x'));
  EXPECT_THAT(First(table), HasSubstr("file '/w/db/t/data/0.parquet'"));
  ASSERT_TRUE(small_.memory_.Remove(a_.file_path).ok());
  EXPECT_THAT(First(table), HasSubstr("file '/w/db/t/data/0.parquet': the file is not there"));
  EXPECT_EQ(CheckTable(small_.files_, table, {.all = true, .files = false})->violations,
            std::vector<Violation>());
  ASSERT_TRUE(small_.memory_.Remove(list).ok());
  EXPECT_EQ(First(table),
            "snapshot " + std::to_string(first_) + ", manifest list '" + list + "': the file is not there");
}

TEST_F(TableCheckTest, ManifestsThatAreNotWhatTheListSays) {
  constexpr auto kData = ManifestContent::kData;
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->manifest_path = "/w/none"; }),
              HasSubstr("manifest '/w/none': the file is not there"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { ++line->manifest_length; }),
              HasSubstr("bytes, and the list says"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->partition_spec_id = 4; }),
              HasSubstr("in the list it is of spec 4"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { ++line->added_files_count; }),
              HasSubstr("added_files_count = 2, and the manifest has 1"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->existing_rows_count = 4; }),
              HasSubstr("existing_rows_count = 4"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->min_sequence_number = 9; }),
              HasSubstr("min_sequence_number = 9"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->sequence_number = 9; }),
              HasSubstr("it has the sequence number 9, and the snapshot 3"));
  EXPECT_THAT(AfterLine(kData,
                        [](auto* line) {
                          line->partitions[0].upper_bound = line->partitions[0].lower_bound =
                              std::string(4, '\0');
                        }),
              HasSubstr("its partition 'id_bucket' is not among those that the list says"));
  EXPECT_THAT(AfterLine(kData, [](auto* line) { line->content = ManifestContent::kDeletes; }),
              HasSubstr("in the list the other"));
  EXPECT_THAT(AfterLines([](auto* lines) { lines->push_back(lines->front()); }),
              HasSubstr("it is listed twice"));
  const std::string path =
      ReadManifestList(small_.files_.Read(small_.table().snapshots[0].manifest_list).value(), "")
          .value()[0]
          .manifest_path;
  std::string bytes = small_.files_.Read(path).value();
  bytes[bytes.size() / 2] ^= 1;
  small_.memory_.Overwrite(path, bytes);
  EXPECT_THAT(First(small_.table()), HasSubstr("manifest '" + path + "'"));
}

TEST_F(TableCheckTest, EntriesThatBreakTheFormat) {
  constexpr auto kData = ManifestContent::kData;
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->push_back(all->front()); }),
              HasSubstr("the data file is there twice"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->front().sequence_number = 9; }),
              HasSubstr("its data has the sequence number 9, and the manifest 3"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->front().file.first_row_id = 24; }),
              HasSubstr("its row ids end at"));
  EXPECT_THAT(
      AfterEntry(kData, [](auto* all) { (*all)[0].file.first_row_id = *(*all)[1].file.first_row_id + 1; }),
      HasSubstr("its row ids begin among those of"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->front().file.record_count = 3; }),
              HasSubstr("it has 5 rows, and the table says 3"));
  EXPECT_THAT(AfterEntry(kData,
                         [](auto* all) {
                           std::swap(all->front().file.lower_bounds, all->front().file.upper_bounds);
                         }),
              HasSubstr("the bounds of column 'id' are the wrong way round"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->front().file.lower_bounds[1] = "abc"; }),
              HasSubstr("the lower bound of column 'id' is no long"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { all->front().file.null_value_counts[2] = 99; }),
              HasSubstr("column 2 has 99 NULLs"));
  EXPECT_THAT(AfterEntry(kData,
                         [](auto* all) {
                           all->front().file.split_offsets = {4, 4};
                         }),
              HasSubstr("split_offsets"));
  EXPECT_THAT(AfterEntry(kData, [](auto* all) { ++all->front().file.file_size_in_bytes; }),
              HasSubstr("bytes, and the table says"));
  // The vector's own data file.
  EXPECT_THAT(AfterEntry(kData,
                         [&](auto* all) {
                           std::erase_if(*all,
                                         [&](const auto& one) { return one.file.file_path == a_.file_path; });
                           all->push_back(all->front());
                           all->back().file = small_.Write(500, 10, 0);
                           all->back().file.first_row_id = 0;
                         }),
              HasSubstr("the snapshot does not have the data file"));
}

TEST_F(TableCheckTest, VectorsThatBreakTheFormat) {
  EXPECT_THAT(AfterVector([](auto* puffin, auto* entry) {
                Put(puffin, entry, {3, 10});
              }),
              HasSubstr("it deletes row 10 of '/w/db/t/data/0.parquet', which has 10"));
  EXPECT_THAT(AfterVector([](auto* puffin, auto* entry) {
                Put(puffin, entry, {3});
                entry->file.record_count = 2;
              }),
              HasSubstr("it holds 1 positions, the manifest says 2"));
  EXPECT_THAT(AfterVector([](auto* puffin, auto* entry) {
                Put(puffin, entry, {3});
                --*entry->file.content_offset;
              }),
              HasSubstr("no deletion vector"));
  EXPECT_THAT(AfterVector([](auto* puffin, auto* entry) {
                Put(puffin, entry, {3});
                entry->file.partition = {Value(int64_t{3})};
              }),
              HasSubstr("it is of another partition than the data file"));
  EXPECT_THAT(AfterVector([](auto* puffin, auto* entry) {
                Put(puffin, entry, {3});
                entry->sequence_number = 0;
              }),
              HasSubstr("it has the sequence number 0, and the data file 1"));
}

TEST_F(TableCheckTest, AVectorThatWasReplacedAndStayed) {
  const auto twice = [](std::vector<ManifestEntry>* all) { all->push_back(all->front()); };
  EXPECT_THAT(AfterEntry(ManifestContent::kDeletes, twice),
              HasSubstr("total-delete-files = 1, and there are 2"));
  totals_ = false;
  EXPECT_THAT(AfterEntry(ManifestContent::kDeletes, twice),
              HasSubstr("the data file has another deletion vector"));
}

TEST_F(TableCheckFormat2Test, PositionsBehindTheEndOfTheirFile) {
  totals_ = false;
  EXPECT_THAT(AfterEntry(ManifestContent::kData,
                         [&](auto* all) {
                           std::erase_if(*all,
                                         [&](const auto& one) { return one.file.file_path == a_.file_path; });
                           all->push_back(all->front());
                           all->back().sequence_number = 1;
                           all->back().file = small_.Write(0, 2, 0);
                         }),
              HasSubstr("it deletes row 3 of '/w/db/t/data/0.parquet', which has 2"));
}

}  // namespace
}  // namespace caudal::iceberg
