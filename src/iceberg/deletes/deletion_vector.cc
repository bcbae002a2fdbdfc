#include "iceberg/deletes/deletion_vector.h"

#include <fmt/format.h>
#include <zlib.h>

#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {
namespace {

constexpr std::string_view kVectorMagic("\xd1\xd3\x39\x64", 4);
constexpr size_t kFrame = 12;  // length, magic, checksum

void AppendBigEndian(uint32_t number, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(number >> shift));
}

uint32_t BigEndian(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

uint32_t Crc32Of(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Status NoVector(std::string what) { return Status::Data(fmt::format("no deletion vector: {}", what)); }

}  // namespace

std::string EncodeDeletionVector(const PositionSet& positions) {
  const std::string content = std::string(kVectorMagic) + positions.Serialize();
  std::string blob;
  AppendBigEndian(static_cast<uint32_t>(content.size()), &blob);
  blob += content;
  AppendBigEndian(Crc32Of(content), &blob);
  return blob;
}

Result<PositionSet> DecodeDeletionVector(std::string_view blob, int64_t claimed) {
  if (blob.size() < kFrame) return NoVector(fmt::format("{} bytes are too few", blob.size()));
  if (BigEndian(blob) != blob.size() - 8) {
    return NoVector(fmt::format("it says {} bytes and has {}", BigEndian(blob), blob.size() - 8));
  }
  const std::string_view content = blob.substr(4, blob.size() - 8);
  if (content.substr(0, kVectorMagic.size()) != kVectorMagic)
    return NoVector("it does not begin with d1d33964");
  if (BigEndian(blob.substr(blob.size() - 4)) != Crc32Of(content))
    return NoVector("its checksum does not fit");
  ASSIGN_OR_RETURN(PositionSet positions, PositionSet::Deserialize(content.substr(kVectorMagic.size())));
  if (positions.size() != claimed) {
    return NoVector(fmt::format("it holds {} positions, the manifest says {}", positions.size(), claimed));
  }
  return positions;
}

Result<PositionSet> ReadDeletionVector(FileSystem* files, const DataFile& vector) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(vector.file_path));
  ASSIGN_OR_RETURN(const auto file, files->Open(path));
  const int64_t size = vector.content_size_in_bytes.value_or(0);
  ASSIGN_OR_RETURN(const MutableBufferPtr bytes, file->Read(*vector.content_offset, size));
  Result<PositionSet> positions = DecodeDeletionVector({bytes->data(), bytes->size()}, vector.record_count);
  if (positions.ok()) return positions;
  return std::move(positions).status().At(fmt::format("deletion vector in '{}'", vector.file_path));
}

}  // namespace caudal::iceberg
