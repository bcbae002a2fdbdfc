// Bitmaps of positions and Puffin footers: any bytes end in one or in one Data error; a bitmap that was read
// is written and read again as the same set.
//
// The first byte says what the rest is: 0 a Puffin file, else a bitmap, since no random change gets past the
// checksum of a deletion vector.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "iceberg/deletes/position_set.h"
#include "iceberg/deletes/puffin.h"

namespace {

void CheckError(const caudal::Status& status) {
  if (status.domain() != caudal::Domain::kData || status.message().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using caudal::iceberg::PositionSet;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    const auto footer = caudal::iceberg::ReadPuffinFooter(rest);
    if (!footer.ok()) CheckError(footer.status());
    return 0;
  }
  const auto set = PositionSet::Deserialize(rest);
  if (!set.ok()) {
    CheckError(set.status());
    return 0;
  }
  const auto again = PositionSet::Deserialize(set->Serialize());
  if (!again.ok() || !(*again == *set) || again->size() != set->size()) std::abort();
  const auto positions = set->ToVector();
  for (size_t i = 0; i < positions.size(); i += 1 + positions.size() / 100) {
    if (!set->Contains(positions[i]) || (i > 0 && positions[i - 1] >= positions[i])) std::abort();
  }
  return 0;
}
