#include "api/fate.h"

namespace caudal {

std::string_view FateName(Fate fate) {
  switch (fate) {
    case Fate::kDead:
      return "dead";
    case Fate::kFiltered:
      return "filtered";
    case Fate::kLate:
      return "late";
    case Fate::kDuplicate:
      return "duplicate";
    case Fate::kAbsorbed:
      return "absorbed";
    case Fate::kPublished:
      return "published";
  }
  return "";
}

int64_t* FateCounters::Get(Fate fate, std::string_view name) {
  for (Entry& entry : entries_) {
    if (entry.fate == fate && entry.name == name) return &entry.rows;
  }
  return &entries_.emplace_back(Entry{fate, std::string(name), 0}).rows;
}

int64_t FateCounters::total() const {
  int64_t total = 0;
  for (const Entry& entry : entries_) total += entry.rows;
  return total;
}

}  // namespace caudal
