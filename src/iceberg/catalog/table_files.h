// TableFiles: the files of tables by their locations, on a file system.
//
// Any thread. A location is a plain path, a file: URI or one of s3:, as different writers have it; it is
// always passed on as it was written, since readers compare locations as text.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

class TableFiles {
 public:
  // Both must outlive it.
  TableFiles(FileSystem* files, Env* env) : files_(files), env_(env) {}

  Result<std::string> Read(const std::string& location) const;
  // A new file, durable, with its folder; Internal error if there is one of this name.
  Status Write(const std::string& location, std::string_view bytes) const;
  Status Remove(const std::string& location) const;

  // A metadata file, also a gzipped one (.gz.metadata.json).
  Result<TableMetadata> ReadMetadata(const std::string& location) const;
  // Writes `<version>-<uuid>.metadata.json`, or `….gz.metadata.json`, below the table's metadata folder;
  // answers its location.
  Result<std::string> WriteMetadata(const TableMetadata& table, int version) const;

  Env* env() const { return env_; }
  FileSystem* file_system() const { return files_; }
  std::string NewUuid() const;  // random, version 4

 private:
  FileSystem* files_;
  Env* env_;
};

// The text of a metadata file as `write.metadata.compression-codec` of the properties, the table's own
// mostly, has it, and the end of the name that tells readers. User error for a codec other than 'none' and
// 'gzip'.
struct MetadataBytes {
  std::string bytes;
  const char* ending = ".metadata.json";
};
Result<MetadataBytes> PackMetadata(const TableMetadata& table,
                                   const std::map<std::string, std::string>& properties);

// The path behind a location; s3a: and s3n: are s3:. User error for a scheme that is not read.
Result<std::string> PathOf(const std::string& location);
// Where the metadata of a table goes: `write.metadata.path`, or "metadata" below its location.
std::string MetadataFolder(const TableMetadata& table);
// Where its data goes: `write.data.path`, or "data" below its location.
std::string DataFolder(const TableMetadata& table);
// The number in a metadata file's name, "00012-…" or "v12.…"; -1 if there is none.
int MetadataVersion(std::string_view location);

}  // namespace caudal::iceberg
