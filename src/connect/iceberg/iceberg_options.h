// IcebergOptions: what a table of connector 'iceberg' says in its options, checked. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/changelog.h"
#include "api/table.h"
#include "base/status.h"
#include "format/parquet_writer.h"
#include "fs/file_system.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/rest/rest_options.h"

namespace caudal {

inline constexpr const char* kCodecProperty = "write.parquet.compression-codec";

// User error for a codec that is not written.
Result<ParquetOptions::Compression> ParquetCodec(std::string name);

// Whether a table that is made keeps the option as a property.
bool IsTableProperty(std::string_view option);

// "a.b" is a namespace of two levels.
std::vector<std::string> NamespaceOf(std::string_view database);

// What becomes of a row whose key is in the table: 'caudal.unique'.
enum class IcebergUnique : uint8_t { kUpsert, kIgnore, kFail };

// What becomes of a table that lacks what rows bring: 'caudal.schema-evolution'.
enum class IcebergEvolution : uint8_t { kStop, kEvolve, kDeadLetter };

// What a table takes: a key lets it take updates, unless what is there stays as it is.
ChangelogKinds IcebergChangelog(const Table& table);

struct IcebergOptions {
  std::string declared;  // the table's name in the script, for messages
  std::string catalog_name;
  enum class CatalogType : uint8_t { kSqlite, kHadoop, kRest } catalog_type = CatalogType::kSqlite;
  std::string catalog_file;   // of SQLite, absolute; of Hadoop, the folder
  iceberg::RestOptions rest;  // of kRest
  std::string warehouse;      // without a final '/', as it is to stand in locations; empty: not said
  iceberg::TableName name;
  int format_version = 2;    // of a table that is made
  std::string partition_by;  // the same
  // Of a table that is made; those of them that say how files are written win over the table's own.
  std::map<std::string, std::string> properties;
  Options store;             // 's3.*' and 'client.region': where files of s3:// are
  int max_open_files = 0;    // of a task
  int64_t buffer_bytes = 0;  // of rows that wait in memory for their partition's file
  IcebergUnique unique = IcebergUnique::kUpsert;
  IcebergEvolution evolution = IcebergEvolution::kStop;

  static Result<IcebergOptions> From(const Table& table);
  // `files`, as the options 's3.*' want them, or else as a REST catalog lets its clients; null: those of this
  // machine.
  Result<FileSystem*> FilesOf(FileSystem* files) const;

  // For errors: "table 'db.t' of catalog 'lake', declared as 't'".
  std::string frame() const;
};

}  // namespace caudal
