// Codec: how the blocks of an Avro container are packed.
//
// Pure functions; any thread. What zlib and zstd answer ends here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal::avro {

enum class Codec { kNull, kDeflate, kZstandard };

// "null", "deflate", "zstandard", as a container's metadata writes it.
std::string_view CodecName(Codec codec);
// Data error for a codec that is not read ("snappy", "bzip2", "xz"), with what to do.
Result<Codec> FindCodec(std::string_view name);

Result<std::string> Pack(Codec codec, std::string_view bytes);
// Data error if the bytes are damaged, end early, go on behind their end, or give more than `most` bytes.
Result<std::string> Unpack(Codec codec, std::string_view bytes, int64_t most);

}  // namespace caudal::avro
