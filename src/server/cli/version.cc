#include "server/cli/version.h"

#include <fmt/format.h>

namespace caudal {

int PrintVersion(Console& console) {
  console.Out(console.json ? fmt::format("{{\"caudal\": \"{}\"}}\n", CAUDAL_VERSION)
                           : fmt::format("caudal {}\n", CAUDAL_VERSION));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
