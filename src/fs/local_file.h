// LocalWritableFile and its reading twin: one open file descriptor each, closed with the object.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fs/file_system.h"

struct stat;

namespace caudal {

Result<std::unique_ptr<WritableFile>> CreateLocalFile(const std::string& path);
Result<std::unique_ptr<RandomAccessFile>> OpenLocalFile(const std::string& path);

// What it is instead of a file ("a pipe"); empty if it is one. Lives for ever.
std::string_view WhyNoFile(const struct stat& info);

// Makes the names in the folder of `path` durable.
Status SyncParentFolder(const std::string& path);
// The folder part of a path; "." if it has none.
std::string ParentFolder(const std::string& path);

}  // namespace caudal
