#include "connect/iceberg/scan/deleted_rows.h"

#include <fmt/format.h>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"

namespace caudal {
Result<iceberg::PositionSet> ReadDeletedRows(FileSystem* files, const iceberg::ScanPlan& plan,
                                             const iceberg::ScanFile& file) {
  iceberg::PositionSet positions;
  for (const size_t number : file.deletes) {
    const iceberg::DataFile& deletes = plan.deletes[number].file;
    if (deletes.content == iceberg::FileContent::kEqualityDeletes) {
      return Status::User(
                 fmt::format("'{}' deletes rows by their values, which is not read yet", deletes.file_path))
          .Hint("compact the table with the engine that wrote it");
    }
    if (deletes.is_deletion_vector()) {
      ASSIGN_OR_RETURN(const iceberg::PositionSet vector, iceberg::ReadDeletionVector(files, deletes));
      positions.AddAll(vector);
    } else {
      RETURN_IF_ERROR(iceberg::AddDeletedPositions(files, deletes, file.data.file.file_path, &positions));
    }
  }
  return positions;
}

}  // namespace caudal
