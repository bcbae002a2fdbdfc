// LookupReader: a table outside that is asked for the rows of given keys, many keys at a time.
//
// One an operator and task, which owns it. Find blocks, so it is for I/O threads; one call at a time. It says
// what the table has at that moment, and remembers nothing between calls but its connection.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"

namespace caudal {

struct LookupRequest {
  std::vector<int> keys;     // positions in Table::columns of what is given
  std::vector<int> columns;  // and of what is wanted; a column may be both
  Schema schema;             // of what is wanted
};

struct LookupRows {
  std::vector<ColumnPtr> columns;   // those wanted, as many rows as were found
  std::vector<int32_t> key_of_row;  // which of the keys each row is of
  // Keys with a row that has a value which is none of its column's: their rows do not count.
  struct Unreadable {
    int32_t key = 0;
    std::string message;
  };
  std::vector<Unreadable> unreadable;
};

class LookupReader {
 public:
  virtual ~LookupReader() = default;
  // `keys`: the given columns in order, flat, without selection; no NULL among them. Retry::kBackoff: nobody
  // answers, and the same call may be repeated; any other error stops the query.
  virtual Result<LookupRows> Find(const Chunk& keys) = 0;
  // Whether the table outside, as it is now, would let itself be asked. One that cannot be reached is none of
  // its business. Blocks; before any Find.
  virtual Status CheckTarget() { return Status(); }
};

}  // namespace caudal
