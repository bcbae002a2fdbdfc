// ManifestReader: the entries of one manifest, with the numbers that they inherit from the manifest list.
//
// One thread; the bytes must outlive it. Written by any engine, format 1 to 3: fields are found by id, a
// missing optional one is simply not there.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "format/avro/container.h"
#include "iceberg/manifest/avro_record.h"
#include "iceberg/manifest/manifest.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

class ManifestReader {
 public:
  // `bytes` is the whole file that `manifest`, a line of the list, names. Data error if it is no manifest, or
  // of another spec or content than the list says.
  static Result<std::unique_ptr<ManifestReader>> Open(std::string_view bytes, const ManifestFile& manifest,
                                                      const avro::Limits& limits = {});

  // The fields of the spec that the manifest was written with.
  const PartitionSpec& spec() const { return spec_; }

  // The next entry, all of its numbers settled; none at the end. Data error that names record and field.
  Result<std::optional<ManifestEntry>> Next();

 private:
  explicit ManifestReader(const ManifestFile& manifest)
      : manifest_(manifest), next_row_id_(manifest.first_row_id) {}
  Status ReadHeader();
  Result<ManifestEntry> Read(const avro::Value& value) const;
  void ReadFile(const AvroRecord& record, DataFile* file, Status* error) const;
  Status Inherit(ManifestEntry* entry);

  ManifestFile manifest_;
  std::unique_ptr<avro::ContainerReader> container_;
  PartitionSpec spec_;
  AvroLayout entry_layout_;
  AvroLayout file_layout_;
  AvroLayout partition_layout_;
  const avro::Node* partition_ = nullptr;
  std::optional<int64_t> next_row_id_;
};

}  // namespace caudal::iceberg
