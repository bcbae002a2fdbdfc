// Deletion vectors as blobs of a Puffin file (type "deletion-vector-v1"): length, magic, bitmap, CRC.
//
// Pure functions but for the file that one reads; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

inline constexpr std::string_view kDeletionVectorBlob = "deletion-vector-v1";

std::string EncodeDeletionVector(const PositionSet& positions);
// `blob` is what the manifest's content_offset and content_size_in_bytes name; `claimed` its record_count.
// Data error if the frame, the checksum, the bitmap or the number of positions is wrong.
Result<PositionSet> DecodeDeletionVector(std::string_view blob, int64_t claimed);
// What the manifest's entry names, out of its file. REQUIRES: it is a deletion vector. Blocks.
Result<PositionSet> ReadDeletionVector(FileSystem* files, const DataFile& vector);

}  // namespace caudal::iceberg
