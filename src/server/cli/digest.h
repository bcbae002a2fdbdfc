// caudal digest: a fingerprint of lines that does not depend on their order, for comparing tables.
#pragma once

#include "server/cli/console/console.h"

namespace caudal {

int PrintDigest(bool skip_header, Console& console);

}  // namespace caudal
