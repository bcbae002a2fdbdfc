// ManifestWriter: one manifest, of one partition spec and one content, as bytes, with the line that goes into
// the manifest list.
//
// One thread. What is written is the same whichever attempt commits it: entries that are ADDED have no
// numbers, so that after a conflict only the list is written again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/avro/container.h"
#include "iceberg/bounds.h"
#include "iceberg/manifest/manifest.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

class ManifestWriter {
 public:
  struct Options {
    int format_version = 2;
    ManifestContent content = ManifestContent::kData;
    avro::Codec codec = avro::Codec::kDeflate;
    avro::SyncMarker sync = {};  // random, from Env
  };
  // User error if the spec cannot be written (PartitionTypes).
  static Result<ManifestWriter> Make(const Schema& schema, const PartitionSpec& spec, const Options& options);

  // Internal error for an entry that must not be: EXISTING or DELETED without numbers, of the other content,
  // a deletion vector without its place, of a partition with another number of fields.
  Status Add(const ManifestEntry& entry);

  // About the bytes of what was added.
  int64_t size() const { return static_cast<int64_t>(container_.size()); }

  struct Written {
    std::string bytes;
    ManifestFile manifest;  // without its path; open numbers as manifest.h says
  };
  Result<Written> Finish();

 private:
  ManifestWriter(const Options& options, PartitionSpec spec, std::vector<Type> types,
                 avro::ContainerWriter container);
  Status Check(const ManifestEntry& entry) const;
  void Count(const ManifestEntry& entry);
  void Summarize(const DataFile& file);

  Options options_;
  PartitionSpec spec_;
  std::vector<Type> types_;
  avro::ContainerWriter container_;
  ManifestFile manifest_;
  std::vector<BoundsCollector> bounds_;  // of each partition field
};

}  // namespace caudal::iceberg
