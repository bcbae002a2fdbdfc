#include "connect/iceberg/scan/planned_files.h"

namespace caudal {

PlannedFiles::PlannedFiles(const ScanSurroundings* around, const iceberg::TableMetadata* table,
                           iceberg::ScanPlan plan)
    : FilesInTurn(around, table), plan_(std::move(plan)) {
  const auto shares = static_cast<size_t>(around_.shares), share = static_cast<size_t>(around_.share);
  for (size_t i = share; i < plan_.files.size(); i += shares) mine_.push_back(&plan_.files[i]);
}

}  // namespace caudal
