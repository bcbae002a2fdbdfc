// The journal of a cut-over: while it is there, a table's branch and its query's checkpoint may not belong
// together, so that nothing may run on the state folder.
//
// Pure but for the file; any thread.
#pragma once

#include <string>

#include "base/status.h"

namespace caudal {

std::string CutOverJournalIn(const std::string& state_root);
// User error with the way out if there is one.
Status CheckNoCutOver(const std::string& state_root);

}  // namespace caudal
