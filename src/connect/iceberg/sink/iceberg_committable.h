// What one task prepared of an epoch as the checkpoint keeps it: docs/formats/iceberg-committable.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connect/iceberg/upsert/key_places.h"
#include "iceberg/commit/append.h"

namespace caudal {

struct IcebergCommittable {
  struct File {
    std::string location;
    int64_t bytes = 0;
  };
  iceberg::PreparedAppend append;
  std::vector<File> files;  // data files, which must be there when they are committed
  // Of a table with a key: where the rows of the epoch's keys are.
  std::optional<KeyPlacesFile> keys;
  std::string key_identity;  // what they are hashes of: IcebergSinkPlan's; empty: an older version wrote it

  std::string ToJson() const;
  // Internal error if the text is none of ToJson's.
  static Result<IcebergCommittable> Parse(std::string_view json);
};

}  // namespace caudal
