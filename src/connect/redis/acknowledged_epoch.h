// AcknowledgedEpoch: the newest epoch that the server has said it has, of one sink.
//
// Owned by the sink, which outlives its writers and its committer: that one learns it, those write it beside
// the rows of later epochs, so that another process, too, can find out that the server has lost it.
// Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>

#include "data/message.h"

namespace caudal {

class AcknowledgedEpoch {
 public:
  void Raise(Epoch epoch) {
    std::lock_guard lock(mutex_);
    epoch_ = std::max(epoch_, epoch);
  }
  Epoch get() const {
    std::lock_guard lock(mutex_);
    return epoch_;
  }

 private:
  mutable std::mutex mutex_;
  Epoch epoch_;
};

}  // namespace caudal
