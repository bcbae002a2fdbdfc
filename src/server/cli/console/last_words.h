// LastWords: what the program says when the system refuses it a thread or memory, which no code catches,
// instead of an abort without a reason. Everything else that is not caught is a fault of caudal's and aborts.
#pragma once

#include "server/cli/console/console.h"

namespace caudal {

// From now on, also in processes that are forked later. `console`: whether it speaks JSON; outlives the
// program's end.
void SayLastWords(const Console* console);

}  // namespace caudal
