#include "format/parquet/zstd_trial.h"

#include <arrow/util/compression.h>

#include <algorithm>
#include <string>

namespace caudal {
namespace {

using arrow::util::Codec;
using arrow::util::ZstdCodecOptions;

// Of what is tried. No more than a small part of the column: each byte of it is compressed three times more.
constexpr size_t kLeastBytes = 16 << 10;
constexpr size_t kMostBytes = 128 << 10;
constexpr size_t kTriedPart = 32;
constexpr size_t kTriedPartOfMore = 8;  // when a store is but the beginning

// zstd's numbers for its parameters (ZSTD_cParameter; the last is one of its experimental ones).
constexpr int kWindowLog = 101, kHashLog = 102, kMinMatch = 105, kTargetLength = 106;
constexpr int kLiteralCompression = 1002;
constexpr int kAlwaysCompressed = 1;

// 2^hash_log places of repetitions are kept, of at least `match` bytes; `step`: by how much the search
// hastens; `longer`: by which part of it the text may come out longer than usual, 0 = by none.
struct Way {
  int hash_log, match, step;
  size_t longer;
};
constexpr Way kWays[] = {
    {6, 7, 8, 16},  // hardly looks: random text
    {6, 5, 4, 0},   // values that share bytes with their neighbours
};
// What level 1 is for pages of more than 256 KB; zstd takes less for a shorter text, as the tried one is.
constexpr int kUsualWindowLog = 19, kUsualHashLog = 14, kUsualMatch = 7;

std::shared_ptr<ZstdCodecOptions> OptionsOf(const Way& way, int level) {
  auto options = std::make_shared<ZstdCodecOptions>();
  options->compression_level = level;
  // With a target length zstd would leave literals as they are, which here is all there is to gain.
  options->compression_context_params = {{kHashLog, way.hash_log},
                                         {kMinMatch, way.match},
                                         {kTargetLength, way.step},
                                         {kLiteralCompression, kAlwaysCompressed}};
  return options;
}

// The first values as a PLAIN page has them; nothing if there are too few for a trial.
std::string FirstValues(const ParquetStore& store, bool more_follows) {
  const size_t all = store.text().size() + store.offsets().size() * sizeof(int32_t);
  const size_t most = std::min(all / (more_follows ? kTriedPartOfMore : kTriedPart), kMostBytes);
  if (most < kLeastBytes) return {};
  std::string page;
  for (size_t row = 0; row < static_cast<size_t>(store.rows()) && page.size() < most; ++row) {
    if (!store.levels().empty() && store.levels()[row] == 0) continue;
    const size_t begin = static_cast<size_t>(store.offsets()[row]);
    const uint32_t size = static_cast<uint32_t>(store.offsets()[row + 1]) - static_cast<uint32_t>(begin);
    if (size > most) return {};
    page.append(reinterpret_cast<const char*>(&size), sizeof(size));
    page.append(store.text(), begin, size);
  }
  return page;
}

// Bytes that the text comes to; as if it were not compressed if that fails.
size_t CompressedSize(const std::string& text, const ZstdCodecOptions& options, std::string* room) {
  auto codec = Codec::Create(arrow::Compression::ZSTD, options);
  if (!codec.ok()) return text.size();
  const auto* from = reinterpret_cast<const uint8_t*>(text.data());
  const int64_t size = static_cast<int64_t>(text.size());
  room->resize(static_cast<size_t>((*codec)->MaxCompressedLen(size, from)));
  const auto compressed = (*codec)->Compress(size, from, static_cast<int64_t>(room->size()),
                                             reinterpret_cast<uint8_t*>(room->data()));
  return compressed.ok() ? static_cast<size_t>(*compressed) : text.size();
}

}  // namespace

std::shared_ptr<arrow::util::CodecOptions> CheaperZstd(const ParquetStore& store, bool more_follows,
                                                       int level) {
  if (store.type().physical() != Physical::kString || store.coded()) return nullptr;
  const std::string page = FirstValues(store, more_follows);
  if (page.empty()) return nullptr;
  std::string room;
  ZstdCodecOptions usual;
  usual.compression_level = level;
  usual.compression_context_params = {
      {kWindowLog, kUsualWindowLog}, {kHashLog, kUsualHashLog}, {kMinMatch, kUsualMatch}};
  const size_t size = CompressedSize(page, usual, &room);
  for (const Way& way : kWays) {
    const auto options = OptionsOf(way, level);
    const size_t longest = way.longer == 0 ? size : size + size / way.longer;
    if (CompressedSize(page, *options, &room) <= longest) return options;
  }
  return nullptr;
}

}  // namespace caudal
