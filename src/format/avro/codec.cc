#include "format/avro/codec.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace caudal::avro {
namespace {

constexpr size_t kFirstOutput = 16 * 1024;
constexpr int kRawDeflate = -15;  // no zlib header, no checksum, as Avro has it
// Python's Avro libraries cut zlib's header off and forget (part of) the checksum at its end.
constexpr unsigned kZlibChecksum = 4;
constexpr int kZstandardWindow = 27;  // 128 MiB: what zstd itself takes without being asked

Status TooLong(int64_t most) {
  return Status::Data(fmt::format("the block unpacks to more than {} bytes", most));
}

// Makes room for what comes next: twice as much, within the limit. False if the limit is reached.
bool Grow(std::string* out, size_t used, int64_t most) {
  const auto limit = static_cast<size_t>(most) + 1;  // one byte more tells "exactly as much" from "more"
  if (used < out->size()) return true;
  if (out->size() >= limit) return false;
  out->resize(std::min(limit, std::max(kFirstOutput, out->size() * 2)));
  return true;
}

Result<std::string> Inflate(std::string_view bytes, int64_t most) {
  z_stream stream = {};
  if (inflateInit2(&stream, kRawDeflate) != Z_OK)
    return Status::External("zlib has no memory", Retry::kBackoff);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  for (size_t used = 0;;) {
    if (!Grow(&out, used, most)) return TooLong(most);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(out.size() - used);
    const int answer = inflate(&stream, Z_NO_FLUSH);
    used = out.size() - stream.avail_out;
    if (answer == Z_STREAM_END) {
      if (static_cast<int64_t>(used) > most) return TooLong(most);
      if (stream.avail_in > kZlibChecksum) return Status::Data("bytes behind the end of the deflated block");
      out.resize(used);
      return out;
    }
    if (answer != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
      return Status::Data(fmt::format("the deflated block is damaged or cut ({})",
                                      stream.msg != nullptr ? stream.msg : "it has no end"));
    }
  }
}

Result<std::string> Deflate(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Status::External("zlib has no memory", Retry::kBackoff);
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, deflateEnd);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return Status::Internal("deflate did not finish a block");
  out.resize(stream.total_out);
  return out;
}

Result<std::string> UnpackZstandard(std::string_view bytes, int64_t most) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr) return Status::External("zstd has no memory", Retry::kBackoff);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstandardWindow);
  ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
  std::string out;
  for (size_t used = 0;;) {
    if (!Grow(&out, used, most)) return TooLong(most);
    ZSTD_outBuffer output = {out.data(), out.size(), used};
    const size_t before = input.pos;
    const size_t answer = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(answer)) {
      return Status::Data(fmt::format("the zstd block is damaged ({})", ZSTD_getErrorName(answer)));
    }
    const bool stuck = output.pos == used && input.pos == before;
    used = output.pos;
    if (answer == 0 && input.pos == input.size) {
      if (static_cast<int64_t>(used) > most) return TooLong(most);
      out.resize(used);
      return out;
    }
    if (stuck || (input.pos == input.size && used < out.size()))
      return Status::Data("the zstd block has no end");
  }
}

Result<std::string> PackZstandard(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) return Status::Internal(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

}  // namespace

std::string_view CodecName(Codec codec) {
  return codec == Codec::kNull ? "null" : codec == Codec::kDeflate ? "deflate" : "zstandard";
}

Result<Codec> FindCodec(std::string_view name) {
  for (Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    if (name == CodecName(codec)) return codec;
  }
  return Status::Data(fmt::format("the codec '{}' is not read", name))
      .Hint("write the file with one of the codecs null, deflate and zstandard");
}

Result<std::string> Pack(Codec codec, std::string_view bytes) {
  if (codec == Codec::kDeflate) return Deflate(bytes);
  if (codec == Codec::kZstandard) return PackZstandard(bytes);
  return std::string(bytes);
}

Result<std::string> Unpack(Codec codec, std::string_view bytes, int64_t most) {
  if (static_cast<int64_t>(bytes.size()) > most) return TooLong(most);
  if (codec == Codec::kDeflate) return Inflate(bytes, most);
  if (codec == Codec::kZstandard) return UnpackZstandard(bytes, most);
  return std::string(bytes);
}

}  // namespace caudal::avro
