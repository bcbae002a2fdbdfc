// Manifests and manifest lists: any bytes end in entries or in one Data error; a list that was read is
// written and read again as the same.
//
// The first byte says what the rest is: 0 a list, 1 a manifest of data, else one of deletes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"

namespace caudal::iceberg {
namespace {

constexpr avro::Limits kLimits = {.depth = 16, .values = 4096, .block_bytes = 1 << 16};

void CheckError(const Status& status) {
  if (status.domain() != Domain::kData || status.message().empty()) std::abort();
}

void RunList(std::string_view bytes) {
  const auto lines = ReadManifestList(bytes, "fuzz", kLimits);
  if (!lines.ok()) return CheckError(lines.status());
  if (lines->size() > 100) return;
  // Format 2 has no row ids, so that none are given out.
  const auto written = WriteManifestList(*lines, {.format_version = 2});
  if (!written.ok()) return CheckError(written.status());
  auto again = ReadManifestList(written->bytes, "again");
  if (!again.ok() || again->size() != lines->size()) std::abort();
  for (size_t i = 0; i < again->size(); ++i) {
    (*again)[i].first_row_id = (*lines)[i].first_row_id;
    if (!(*lines)[i].added_snapshot_id) (*again)[i].added_snapshot_id.reset();
    if (!((*again)[i] == (*lines)[i])) std::abort();
  }
}

void RunManifest(std::string_view bytes, ManifestContent content) {
  const ManifestFile line{
      .manifest_path = "fuzz", .content = content, .sequence_number = 7, .first_row_id = 1};
  const auto reader = ManifestReader::Open(bytes, line, kLimits);
  if (!reader.ok()) return CheckError(reader.status());
  for (int i = 0; i < 100; ++i) {
    const auto entry = (*reader)->Next();
    if (!entry.ok()) return CheckError(entry.status());
    if (!entry->has_value()) return;
    if (!(*entry)->sequence_number || (*entry)->file.partition.size() != (*reader)->spec().fields.size())
      std::abort();
  }
}

}  // namespace
}  // namespace caudal::iceberg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caudal::iceberg;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    RunList(rest);
  } else {
    RunManifest(rest, data[0] == 1 ? ManifestContent::kData : ManifestContent::kDeletes);
  }
  return 0;
}
