// Crc32c: the checksum (Castagnoli) that guards every durable file of caudal.
//
// A pure function; any thread. Uses the processor's instruction where it has one.
#pragma once

#include <cstdint>
#include <string_view>

namespace caudal {

// The CRC of what `crc` already covers followed by `bytes`; start with 0.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace caudal
