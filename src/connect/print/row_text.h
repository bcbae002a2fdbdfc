// A row as Flink's Row.toString writes it: "[1, text, 2026-01-01T10:00, null]".
#pragma once

#include <string>

#include "data/chunk.h"

namespace caudal {

// Appends kind and row, "+I[…]".
void AppendRowText(const Chunk& chunk, int32_t row, std::string* out);

}  // namespace caudal
