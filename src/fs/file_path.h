// What paths of files say by themselves. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace caudal {

// "s3" of "s3://bucket/key"; empty: a path of this machine.
std::string_view SchemeOf(std::string_view path);
// As it is with a scheme, but for slashes at its end; a local path gets absolute, without '.', '..' and
// doubled slashes.
std::string AbsolutePath(const std::string& path);

}  // namespace caudal
