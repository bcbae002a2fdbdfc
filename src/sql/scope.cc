#include "sql/scope.h"

namespace caudal::sql {

std::optional<std::pair<int, int>> Scope::ColumnsOf(std::string_view table) const {
  if (table.empty()) return std::nullopt;
  if (table == qualifier) return std::pair(0, joined.empty() ? columns.size() : joined[0].first);
  for (size_t i = 0; i < joined.size(); ++i) {
    if (table == joined[i].qualifier)
      return std::pair(joined[i].first, i + 1 < joined.size() ? joined[i + 1].first : columns.size());
  }
  return std::nullopt;
}

int Scope::Find(std::string_view name, int first, int last) const {
  int found = kNone;
  for (int i = first; i < last; ++i) {
    if (columns[i].name == name) found = found == kNone ? i : kSeveral;
  }
  return found;
}

std::string Scope::TableNames() const {
  std::string names = qualifier.empty() ? "" : "'" + qualifier + "'";
  for (const Joined& table : joined) {
    if (!table.qualifier.empty()) names += (names.empty() ? "'" : " and '") + table.qualifier + "'";
  }
  return names;
}

}  // namespace caudal::sql
