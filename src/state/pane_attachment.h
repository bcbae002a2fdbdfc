// PaneAttachment: something that the owner of Panes hangs on a key; it goes with the key and is in no
// snapshot. Owned by the table from Attach on; used by the table's thread.
#pragma once

namespace caudal {

class PaneAttachment {
 public:
  virtual ~PaneAttachment() = default;
};

}  // namespace caudal
