#include "iceberg/catalog/table_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace caudal::iceberg {
namespace {

constexpr size_t kMostMetadata = size_t{1} << 30;  // of JSON, once unpacked

Result<std::string> Gunzip(std::string_view bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    return Status::External("zlib has no memory", Retry::kBackoff);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  for (int answer = Z_OK; answer != Z_STREAM_END;) {
    if (out.size() >= kMostMetadata) return Status::Data("the metadata unpacks to more than 1 GiB");
    const size_t used = out.size();
    out.resize(std::max<size_t>(64 * 1024, 2 * used));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(out.size() - used);
    answer = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    const bool stuck = answer == Z_OK && stream.avail_in == 0 && stream.avail_out > 0;
    if ((answer != Z_OK && answer != Z_STREAM_END) || stuck)
      return Status::Data("the gzipped metadata is damaged or cut");
  }
  return out;
}

// In the fastest way: it is done at each commit.
Result<std::string> Gzip(std::string_view text) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return Status::External("zlib has no memory", Retry::kBackoff);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, deflateEnd);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return Status::Internal("metadata could not be packed");
  out.resize(stream.total_out);
  return out;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What the property says, or the folder below the table's.
std::string FolderOf(const TableMetadata& table, const char* property, const char* below) {
  const auto set = table.properties.find(property);
  std::string folder = set == table.properties.end() ? table.location + below : set->second;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

}  // namespace

Result<std::string> PathOf(const std::string& location) {
  const size_t colon = location.find(':');
  if (colon == std::string::npos || location.find('/') < colon) return location;
  const std::string scheme = location.substr(0, colon);
  // An object has one path, so that paths can be compared whichever engine wrote the location.
  if (scheme == "s3" || scheme == "s3a" || scheme == "s3n") return "s3" + location.substr(colon);
  if (scheme != "file") {
    return Status::User(fmt::format("locations of '{}:' are not read: '{}'", scheme, location))
        .Hint("tables on a local disk and in S3 are read: a path, file: or s3://bucket/path");
  }
  // file:/a, file:///a and file://localhost/a; Java does not escape what it writes, so that neither is
  // anything undone here.
  std::string_view rest = std::string_view(location).substr(colon + 1);
  if (rest.substr(0, 2) == "//") rest = rest.substr(std::min(rest.find('/', 2), rest.size()));
  return std::string(rest);
}

std::string MetadataFolder(const TableMetadata& table) {
  return FolderOf(table, "write.metadata.path", "/metadata");
}

std::string DataFolder(const TableMetadata& table) { return FolderOf(table, "write.data.path", "/data"); }

int MetadataVersion(std::string_view location) {
  std::string_view name = location.substr(location.rfind('/') + 1);
  if (!name.empty() && name[0] == 'v') name.remove_prefix(1);
  int version = -1;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  return error == std::errc() ? version : -1;
}

Result<std::string> TableFiles::Read(const std::string& location) const {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  return files_->ReadAll(path);
}

Status TableFiles::Write(const std::string& location, std::string_view bytes) const {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  RETURN_IF_ERROR(files_->MakeDirectories(path.substr(0, path.rfind('/'))));
  ASSIGN_OR_RETURN(const bool made, files_->CreateIfAbsent(path, bytes));
  return made ? Status() : Status::Internal(fmt::format("'{}' is there already", location));
}

Status TableFiles::Remove(const std::string& location) const {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  return files_->Remove(path);
}

Result<TableMetadata> TableFiles::ReadMetadata(const std::string& location) const {
  ASSIGN_OR_RETURN(std::string text, Read(location));
  const bool packed = EndsWith(location, ".gz.metadata.json") || EndsWith(location, ".metadata.json.gz");
  Result<std::string> unpacked = packed ? Gunzip(text) : std::move(text);
  if (!unpacked.ok()) return std::move(unpacked).status().At(fmt::format("metadata file '{}'", location));
  Result<TableMetadata> table = ParseTableMetadata(*unpacked);
  if (!table.ok()) return std::move(table).status().At(fmt::format("metadata file '{}'", location));
  return table;
}

Result<std::string> TableFiles::WriteMetadata(const TableMetadata& table, int version) const {
  ASSIGN_OR_RETURN(const MetadataBytes packed, PackMetadata(table, table.properties));
  std::string location =
      fmt::format("{}/{:05}-{}{}", MetadataFolder(table), version, NewUuid(), packed.ending);
  RETURN_IF_ERROR(Write(location, packed.bytes));
  return location;
}

Result<MetadataBytes> PackMetadata(const TableMetadata& table,
                                   const std::map<std::string, std::string>& properties) {
  const auto said = properties.find("write.metadata.compression-codec");
  std::string codec = said == properties.end() ? "none" : said->second;
  std::transform(codec.begin(), codec.end(), codec.begin(), [](unsigned char c) { return tolower(c); });
  if (codec != "none" && codec != "gzip") {
    return Status::User(fmt::format("the table has 'write.metadata.compression-codec' = '{}'", said->second))
        .Hint("metadata is written with 'none' or 'gzip'");
  }
  MetadataBytes packed;
  ASSIGN_OR_RETURN(packed.bytes, TableMetadataText(table));
  if (codec == "none") return packed;
  ASSIGN_OR_RETURN(packed.bytes, Gzip(packed.bytes));
  packed.ending = ".gz.metadata.json";
  return packed;
}

std::string TableFiles::NewUuid() const {
  const uint64_t high = (env_->Random() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (env_->Random() & (~uint64_t{0} >> 2)) | uint64_t{1} << 63;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffff);
}

}  // namespace caudal::iceberg
