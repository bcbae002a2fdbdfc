// Outage: what a SplitReader also is whose source may be away for long while the reader merely has no rows.
// Same threads as the reader's own calls.
#pragma once

#include "base/status.h"

namespace caudal {

class Outage {
 public:
  virtual ~Outage() = default;
  // Who has not answered for so long that it is not known what waits; OK: it is known, or was a moment ago.
  // One outage is one message.
  virtual Status outage() const = 0;
};

}  // namespace caudal
