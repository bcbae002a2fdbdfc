// Text of columns' types, for fingerprints: a table restores only under the types that wrote it.
#pragma once

#include <string>
#include <vector>

#include "data/schema.h"

namespace caudal {

// "STRING, BIGINT"; nullability is left out, since a key encodes alike with and without.
inline std::string KeyTypesText(const Schema& schema, const std::vector<int>& columns) {
  std::string text;
  for (int column : columns) {
    text.append(text.empty() ? "" : ", ").append(schema[column].type.WithNullable(true).ToString());
  }
  return text;
}

inline std::vector<Type> ColumnTypes(const Schema& schema, const std::vector<int>& columns) {
  std::vector<Type> types;
  for (int column : columns) types.push_back(schema[column].type);
  return types;
}

}  // namespace caudal
