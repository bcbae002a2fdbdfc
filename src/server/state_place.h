// Where the parts of a run's state are: checkpoints go where --state says, which may be an object store; the
// lock, the log, the operations store and scratch files are of this machine.
//
// A pure function; any thread.
#pragma once

#include <string>

namespace caudal {

// `state` itself, or for one in a store a folder of its own below the process's.
std::string LocalStateFolder(const std::string& state);

}  // namespace caudal
