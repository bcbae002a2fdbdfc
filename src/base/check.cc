#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace caudal {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "error[internal]: %s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace caudal
