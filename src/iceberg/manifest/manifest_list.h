// Manifest lists: which manifests make a snapshot. Written anew at every attempt of a commit, since here the
// attempt's numbers enter: its snapshot id, its sequence number, its row ids.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/avro/container.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

struct ManifestListOptions {
  int format_version = 2;
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;
  int64_t first_row_id = 0;  // v3: the table's next row id
  avro::Codec codec = avro::Codec::kDeflate;
  avro::SyncMarker sync = {};
};

struct WrittenManifestList {
  std::string bytes;
  int64_t added_rows = 0;  // v3: row ids that were given out; the table's next row id moves by as many
};

// Open numbers in `manifests` become the snapshot's; in format 3 data manifests without row ids get theirs,
// in the order of the list.
Result<WrittenManifestList> WriteManifestList(const std::vector<ManifestFile>& manifests,
                                              const ManifestListOptions& options);

// `name` is for messages. Of format 1 too, which has fewer fields. Data error that names record and field.
Result<std::vector<ManifestFile>> ReadManifestList(std::string_view bytes, const std::string& name,
                                                   const avro::Limits& limits = {});

}  // namespace caudal::iceberg
