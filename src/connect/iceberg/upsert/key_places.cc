#include "connect/iceberg/upsert/key_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"

namespace caudal {
namespace {

constexpr std::string_view kMagic = "CDLKEYP1";
constexpr int64_t kEntriesAtOnce = 32 * 1024;  // entries that are read at once

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

Result<size_t> ReadKeyPlaces(FileSystem* files, const KeyPlacesFile& file, KeyRun* entries) {
  const auto wrong = [&](std::string_view what) {
    return Status::Data(fmt::format("'{}', which was prepared for the table, {}", file.path, what))
        .Hint("someone removed or replaced it before it was committed");
  };
  ASSIGN_OR_RETURN(const bool there, files->Exists(file.path));
  if (!there) return wrong("is gone");
  ASSIGN_OR_RETURN(const auto opened, files->Open(file.path));
  constexpr auto kWord = static_cast<int64_t>(sizeof(uint64_t));
  const auto magic = static_cast<int64_t>(kMagic.size());
  ASSIGN_OR_RETURN(const MutableBufferPtr start, opened->Read(0, magic + kWord));
  if (opened->size() != file.bytes || static_cast<int64_t>(start->size()) != magic + kWord ||
      !start->view().starts_with(kMagic)) {
    return wrong("is another one");
  }
  uint64_t runs = 0;
  std::memcpy(&runs, start->data() + magic, sizeof(runs));
  int64_t at = magic + kWord + static_cast<int64_t>(runs) * kWord;
  constexpr auto kEntry = static_cast<int64_t>(sizeof(iceberg::IndexEntry));
  if (runs > static_cast<uint64_t>(file.bytes / kWord) || at > file.bytes || (file.bytes - at) % kEntry != 0)
    return wrong("is another one");
  ASSIGN_OR_RETURN(const MutableBufferPtr head, opened->Read(0, at));
  uint32_t checksum = Crc32c(head->view());
  size_t filled = entries->size();
  entries->resize(filled + static_cast<size_t>((file.bytes - at) / kEntry));
  while (at < file.bytes) {
    ASSIGN_OR_RETURN(const MutableBufferPtr bytes,
                     opened->Read(at, std::min(kEntriesAtOnce * kEntry, file.bytes - at)));
    if (bytes->size() % sizeof(iceberg::IndexEntry) != 0 || bytes->size() == 0)
      return wrong("is another one");
    checksum = Crc32c(bytes->view(), checksum);
    std::memcpy(entries->data() + filled, bytes->data(), bytes->size());
    filled += bytes->size() / sizeof(iceberg::IndexEntry);
    at += static_cast<int64_t>(bytes->size());
  }
  if (checksum != file.checksum) return wrong("is another one");
  return static_cast<size_t>(runs);
}

}  // namespace caudal
