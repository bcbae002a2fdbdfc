// Fate: what became of an input row. Each row has exactly one for each sink path of its query.
//
// Where several apply the first in this order counts. Counters are incremented where the fate happens, by the
// task's thread, never derived; the runtime compares them with counts taken elsewhere before each manifest.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace caudal {

enum class Fate : uint8_t {
  kDead,       // {class}: malformed, contract, expression, sink …: to the dead-letter table
  kFiltered,   // {name of the filter}
  kLate,       // {watermark | idle}
  kDuplicate,  // repeats a key within its retention
  kAbsorbed,   // {operator}: kept, joined or folded into a result
  kPublished,  // handed to a sink
};

std::string_view FateName(Fate fate);

// The counters of one operator in one task. A counter's address is stable.
class FateCounters {
 public:
  struct Entry {
    Fate fate;
    std::string name;  // may be empty
    int64_t rows = 0;
  };
  // The counter of (fate, name), made with 0 on first use: in Open, not per row.
  int64_t* Get(Fate fate, std::string_view name = {});
  const std::deque<Entry>& entries() const { return entries_; }
  int64_t total() const;

 private:
  std::deque<Entry> entries_;
};

}  // namespace caudal
