#include "connect/iceberg/upsert/key_places.h"

#include <fmt/format.h>

#include <cstring>

#include "base/crc32c.h"

namespace caudal {
namespace {

constexpr std::string_view kMagic = "CDLKEYP1";

void AppendNumber(uint64_t number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

Result<KeyPlacesFile> WriteKeyPlaces(FileSystem* files, const std::string& path,
                                     const std::vector<KeyRun>& runs) {
  std::string head(kMagic);
  AppendNumber(runs.size(), &head);
  for (const KeyRun& run : runs) AppendNumber(run.size(), &head);
  ASSIGN_OR_RETURN(const auto file, files->Create(path));
  KeyPlacesFile made{path, 0, Crc32c(head)};
  RETURN_IF_ERROR(file->Append(head));
  for (const KeyRun& run : runs) {
    const std::string_view bytes(reinterpret_cast<const char*>(run.data()), run.size() * sizeof(run[0]));
    made.checksum = Crc32c(bytes, made.checksum);
    RETURN_IF_ERROR(file->Append(bytes));
  }
  RETURN_IF_ERROR(file->Close());
  made.bytes = file->size();
  return made;
}

Result<std::vector<KeyRun>> ReadKeyPlaces(FileSystem* files, const KeyPlacesFile& file) {
  const auto wrong = [&](std::string_view what) {
    return Status::Data(fmt::format("'{}', which was prepared for the table, {}", file.path, what))
        .Hint("someone removed or replaced it before it was committed");
  };
  ASSIGN_OR_RETURN(const bool there, files->Exists(file.path));
  if (!there) return wrong("is gone");
  ASSIGN_OR_RETURN(const std::string bytes, files->ReadAll(file.path));
  if (static_cast<int64_t>(bytes.size()) != file.bytes || Crc32c(bytes) != file.checksum ||
      !bytes.starts_with(kMagic)) {
    return wrong("is another one");
  }
  size_t at = kMagic.size();
  const auto number = [&] {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    at += sizeof(value);
    return value;
  };
  std::vector<KeyRun> runs(number());
  for (KeyRun& run : runs) run.resize(number());
  for (KeyRun& run : runs) {
    const size_t size = run.size() * sizeof(iceberg::IndexEntry);
    if (size > 0) std::memcpy(run.data(), bytes.data() + at, size);
    at += size;
  }
  return runs;
}

}  // namespace caudal
