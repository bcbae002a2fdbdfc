// Bytes that others have written, where a text is expected: whether they are UTF-8, as a STRING is.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "data/type.h"

namespace caudal {

bool IsUtf8(std::string_view bytes);

// Why `bytes` are no value of a column: "column 'n': 'much' is not a BIGINT". Always UTF-8.
std::string NotOfColumn(std::string_view column, std::string_view bytes, const Type& type);

}  // namespace caudal
