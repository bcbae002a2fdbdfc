// A table's metadata: any bytes end in a TableMetadata or in one Data error; what was read is written and
// read again as the same, unknown members included.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "iceberg/metadata/table_metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using caudal::iceberg::ParseTableMetadata;
  const auto table = ParseTableMetadata({reinterpret_cast<const char*>(data), size});
  if (!table.ok()) {
    if (table.status().domain() != caudal::Domain::kData || table.status().message().empty()) std::abort();
    return 0;
  }
  const auto written = caudal::iceberg::TableMetadataText(*table);
  if (!written.ok()) {
    if (table->format_version != 1) std::abort();
    return 0;
  }
  const auto again = ParseTableMetadata(*written);
  if (!again.ok() || !(*again == *table)) std::abort();
  return 0;
}
