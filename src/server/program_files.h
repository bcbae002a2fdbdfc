// ProgramFiles: the file system of this program: local paths, and s3:// as the environment says.
//
// Any thread; never destroyed.
#pragma once

#include "fs/file_system.h"

namespace caudal {

FileSystem* ProgramFiles();

}  // namespace caudal
