// ProgramFiles: the file system of this program: local paths, and s3:// as the environment says, or a table.
//
// Any thread; never destroyed.
#pragma once

#include "api/table.h"
#include "fs/file_system.h"

namespace caudal {

FileSystem* ProgramFiles();
// Where and as whom the table's options ('s3.endpoint', …) say; `revealed`: with its secrets. User error for
// options that make no sense.
Result<FileSystem*> FilesOfTable(const Table& revealed);

}  // namespace caudal
