// SmallTable: a table of rows (id, s) in memory, with real files of Parquet, in a catalog of folders: what
// tests of maintenance damage, expire and rewrite.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/column_builder.h"
#include "format/parquet_writer.h"
#include "fs/memory_file_system.h"
#include "iceberg/catalog/hadoop_catalog.h"
#include "iceberg/commit/row_delta.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {

class SmallTable {
 public:
  explicit SmallTable(int format_version) {
    catalog_ = HadoopCatalog::Open("/w", &memory_, &files_).value();
    EXPECT_TRUE(catalog_->CreateNamespace(kName.space).ok());
    const auto made = catalog_->CreateTable(kName, Definition(format_version));
    EXPECT_TRUE(made.ok()) << made.status().ToString();
  }

  // A file of the bucket, ids from `first` on; a name that a sink of caudal gives.
  DataFile Write(int64_t first, int64_t rows, int64_t bucket) {
    const caudal::Schema schema{
        {{"id", caudal::Type(caudal::TypeId::kBigInt, false)}, {"s", caudal::Type::String()}}};
    ParquetOptions options;
    options.field_ids = {1, 2};
    const std::string path = "/w/db/t/data/" + std::to_string(first) + ".parquet";
    EXPECT_TRUE(memory_.MakeDirectories("/w/db/t/data").ok());
    const auto file = memory_.Create(path).value();
    const auto writer = ParquetWriter::Make(schema, options, file.get()).value();
    ColumnBuilder ids(schema[0].type), texts(schema[1].type);
    for (int64_t i = 0; i < rows; ++i) {
      ids.Append<int64_t>(first + i);
      texts.AppendString("s" + std::to_string(first + i));
    }
    EXPECT_TRUE(writer->Append({ids.Finish(), texts.Finish()}, {nullptr, static_cast<int32_t>(rows)}).ok());
    EXPECT_TRUE(writer->Finish().ok());
    EXPECT_TRUE(file->Close().ok());
    DataFile data = File(path, rows, bucket);
    data.file_size_in_bytes = file->size();
    data.value_counts = {{1, rows}, {2, rows}};
    data.null_value_counts = {{1, 0}, {2, 0}};
    const auto bound = [](int64_t id) { return std::string(reinterpret_cast<const char*>(&id), sizeof(id)); };
    data.lower_bounds = {{1, bound(first)}};
    data.upper_bounds = {{1, bound(first + rows - 1)}};
    return data;
  }

  // The snapshot's id. Rows go by file and position.
  int64_t Commit(const std::vector<DataFile>& data,
                 const std::map<std::string, std::vector<int64_t>>& rows = {},
                 const std::string& pipeline = "p", const std::string& branch = "main") {
    class Given : public RowDeletes {
     public:
      explicit Given(const std::map<std::string, std::vector<int64_t>>& rows) : rows_(rows) {}
      Result<DeletedRows> Find(const TableMetadata&, const Snapshot*) override {
        DeletedRows found;
        for (const auto& [path, positions] : rows_) {
          for (const int64_t position : positions) found[path].Add(position);
        }
        return found;
      }
      const std::map<std::string, std::vector<int64_t>>& rows_;
    };
    Given deletes(rows);
    HeadFiles known;
    const auto append = PrepareAppend(files_, table(), 0, data);
    EXPECT_TRUE(append.ok()) << append.status().ToString();
    AppendOptions options;
    options.branch = branch;
    const auto outcome = CommitRowDelta(catalog_.get(), files_, kName, *append, &deletes, &known,
                                        {pipeline, 1, ++epoch_, ""}, options);
    EXPECT_TRUE(outcome.ok()) << outcome.status().ToString();
    env_.Advance(kMinute);
    return outcome.ok() ? outcome->snapshot_id : 0;
  }
  int64_t Append(int64_t first, int64_t rows, int64_t bucket = 0, const std::string& pipeline = "p") {
    return Commit({Write(first, rows, bucket)}, {}, pipeline);
  }

  LoadedTable Load() {
    auto loaded = catalog_->LoadTable(kName);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    return std::move(loaded).value();
  }
  TableMetadata table() { return Load().metadata; }
  int64_t epoch() const { return epoch_; }

  static constexpr int64_t kMinute = 60'000'000;  // micros

  ManualEnv env_{1'700'000'000'000'000, 7};
  MemoryFileSystem memory_{&env_};
  TableFiles files_{&memory_, &env_};
  std::unique_ptr<HadoopCatalog> catalog_;

 private:
  int64_t epoch_ = 0;
};

}  // namespace caudal::iceberg
