#include "iceberg/catalog/catalog.h"

#include <fmt/format.h>

namespace caudal::iceberg {

std::string TableName::ToString() const { return fmt::format("{}.{}", fmt::join(space, "."), name); }

Status Catalog::DropNamespace(const std::vector<std::string>& space) {
  return Status::User(
      fmt::format("the namespace '{}' cannot be dropped in a catalog of this type", fmt::join(space, ".")));
}

Status Catalog::RenameTable(const TableName& name, const TableName&) {
  return Status::User(
             fmt::format("the table '{}' cannot be renamed in a catalog of this type", name.ToString()))
      .Hint("its name is the folder that it is in");
}

}  // namespace caudal::iceberg
