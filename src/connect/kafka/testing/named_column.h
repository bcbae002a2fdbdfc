// A column of a declared table, as tests write it.
#pragma once

#include <string>
#include <utility>

#include "api/table.h"

namespace caudal {

inline TableColumn Named(std::string name, Type type, std::string metadata = "") {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  if (!metadata.empty()) column.kind = TableColumn::Kind::kMetadata;
  column.metadata_key = std::move(metadata);
  return column;
}

}  // namespace caudal
