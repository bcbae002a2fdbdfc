#include "state/checkpoint_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>

#include "base/crc32c.h"
#include "base/fault_point.h"
#include "base/planted_fault.h"
#include "fs/store_file_system.h"

namespace caudal {
namespace {

constexpr std::string_view kSegmentMagic("CDLSEG\0\1", 8);
constexpr std::string_view kIdentityMagic = "caudal checkpoint 1\n";
constexpr std::string_view kClosed = "CDLCLOSE";  // content of a manifest name that holds no epoch

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "manifest-3-17" with prefix "manifest-" → {3, 17}; "generation-3" → {3, 0}.
std::optional<Epoch> ParseName(std::string_view name, std::string_view prefix, bool pair) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Epoch epoch;
  const char* end = name.data() + name.size();
  auto first = std::from_chars(name.data(), end, epoch.generation);
  if (first.ec != std::errc()) return std::nullopt;
  if (!pair) return first.ptr == end ? std::optional(epoch) : std::nullopt;
  if (first.ptr == end || *first.ptr != '-') return std::nullopt;
  auto second = std::from_chars(first.ptr + 1, end, epoch.number);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return epoch;
}

// The first file of an epoch has no number of its own: most epochs have but one.
std::string SegmentName(const Epoch& epoch, int file) {
  const std::string first = fmt::format("segment-{}-{}", epoch.generation, epoch.number);
  return file == 1 ? first : fmt::format("{}-{}", first, file);
}

std::string ManifestName(const Epoch& epoch) {
  return fmt::format("manifest-{}-{}", epoch.generation, epoch.number);
}

std::string CommittedName(const Epoch& epoch) {
  return fmt::format("committed-{}-{}", epoch.generation, epoch.number);
}

Status Fenced(int64_t generation, const std::string& folder) {
  return Status::User(fmt::format("generation {} of the query in '{}' was taken over by a newer start",
                                  generation, folder))
      .Hint("one process at a time may run a query; this one stops");
}

// Where what a manifest names of each file ends.
std::map<std::string, int64_t> SizesOf(const Manifest& manifest) {
  std::map<std::string, int64_t> sizes;
  for (const NodeState& node : manifest.nodes) {
    for (const SegmentRef& ref : node.segments) {
      int64_t end = 0;  // of one that makes no sense, which is refused later
      if (ref.offset >= 0 && ref.length >= 0 && ref.length <= INT64_MAX - ref.offset)
        end = ref.offset + ref.length;
      sizes[ref.file] = std::max(sizes[ref.file], end);
    }
  }
  return sizes;
}

// In pieces if it is large, for a full snapshot may be larger than what one answer of an object store can
// bring, or brings in its time; else in one step, as there may be many.
Result<std::string> ReadFile(FileSystem* files, const std::string& path, int64_t size) {
  constexpr int64_t kPieceBytes = int64_t{32} << 20;
  if (size < kPieceBytes) return files->ReadAll(path);
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  std::string bytes;
  bytes.reserve(static_cast<size_t>(file->size()));
  while (static_cast<int64_t>(bytes.size()) < file->size()) {
    const auto at = static_cast<int64_t>(bytes.size());
    ASSIGN_OR_RETURN(const MutableBufferPtr piece, file->Read(at, std::min(kPieceBytes, file->size() - at)));
    if (piece->size() == 0) break;  // it was cut meanwhile, which its length will tell
    bytes += piece->view();
  }
  return bytes;
}

Result<std::string> ReadSegment(FileSystem* files, const std::string& folder, const SegmentRef& segment,
                                const std::map<std::string, int64_t>& sizes,
                                std::map<std::string, std::string>* cache) {
  auto found = cache->find(segment.file);
  if (found == cache->end()) {
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(files, folder + "/" + segment.file, sizes.at(segment.file)));
    if (!bytes.starts_with(kSegmentMagic)) {
      return Status::Data(fmt::format("segment '{}' is damaged: its magic is missing", segment.file));
    }
    found = cache->emplace(segment.file, std::move(bytes)).first;
  }
  const std::string& bytes = found->second;
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (segment.offset < 0 || segment.length < 0 || segment.offset > size - segment.length) {
    return Status::Data(fmt::format("segment '{}' is cut short: {} bytes", segment.file, size));
  }
  std::string records =
      bytes.substr(static_cast<size_t>(segment.offset), static_cast<size_t>(segment.length));
  if (Crc32c(records) != segment.crc) {
    return Status::Data(fmt::format("segment '{}' is damaged: the checksum of table '{}' does not match",
                                    segment.file, segment.table));
  }
  return records;
}

}  // namespace

Result<std::unique_ptr<CheckpointStore>> CheckpointStore::Open(Env* env, FileSystem* files,
                                                               std::string folder, std::string query,
                                                               int64_t least_generation) {
  std::unique_ptr<CheckpointStore> store(
      new CheckpointStore(env, files, std::move(folder), std::move(query)));
  RETURN_IF_ERROR(files->MakeDirectories(store->folder_));
  RETURN_IF_ERROR(store->ClaimIdentity());
  RETURN_IF_ERROR(store->ClaimGeneration(least_generation));
  return store;
}

Status CheckpointStore::ClaimIdentity() {
  const std::string path = folder_ + "/identity";
  const std::string fresh =
      fmt::format("{}{:016x}{:016x}\n{}\n", kIdentityMagic, env_->Random(), env_->Random(), query_);
  ASSIGN_OR_RETURN(const bool made, files_->CreateIfAbsent(path, fresh));
  (void)made;
  ASSIGN_OR_RETURN(CheckpointIdentity found, ReadIdentity(files_, folder_));
  identity_ = std::move(found.id);
  if (found.query != query_) {
    return Status::User(fmt::format("checkpoint folder '{}' belongs to query '{}', not '{}'", folder_,
                                    found.query, query_))
        .Hint(
            "one query per checkpoint folder for ever: choose another --state folder or rename the query "
            "back");
  }
  return Status();
}

Status CheckpointStore::ClaimGeneration(int64_t least) {
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
    int64_t highest = 0;
    for (const FileInfo& entry : entries) {
      if (auto found = ParseName(FileName(entry.path), "generation-", false)) {
        highest = std::max(highest, found->generation);
      }
      if (auto found = ParseName(FileName(entry.path), "manifest-", true)) {
        highest = std::max(highest, found->generation);
      }
    }
    generation_ = std::max(highest + 1, least);
    ASSIGN_OR_RETURN(const bool mine, files_->CreateIfAbsent(
                                          fmt::format("{}/generation-{}", folder_, generation_), identity_));
    if (mine) return Status();
  }
}

Status CheckpointStore::CheckNotFenced() {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    auto found = ParseName(FileName(entry.path), "generation-", false);
    if (found && found->generation > generation_) return Fenced(generation_, folder_);
  }
  return Status();
}

// From the generation before ours downwards, until one that itself had closed all before it. Who takes a
// number that is not there yet finds ours when it looks whether it is fenced.
Status CheckpointStore::CloseOlderGenerations() {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  std::set<int64_t, std::greater<>> older;
  for (const FileInfo& entry : entries) {
    const auto found = ParseName(FileName(entry.path), "generation-", false);
    if (found && found->generation < generation_) older.insert(found->generation);
  }
  for (const int64_t generation : older) {
    const std::string start = fmt::format("{}/start-{}", folder_, generation);
    ASSIGN_OR_RETURN(const bool never_started, files_->CreateIfAbsent(start, kClosed));
    if (never_started) continue;  // and now it never will
    ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(start));
    if (text == kClosed) continue;
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    ASSIGN_OR_RETURN(const std::vector<ManifestFile> all, ListManifests(files_, folder_));
    for (const ManifestFile& file : all) {
      if (file.epoch.generation == generation) number = std::max(number, file.epoch.number + 1);
    }
    // Takes the name that its writer needs next; when that writer is quicker, the one after.
    for (bool closed = false; !closed; ++number) {
      const std::string path = fmt::format("{}/{}", folder_, ManifestName({generation, number}));
      ASSIGN_OR_RETURN(closed, files_->CreateIfAbsent(path, kClosed));
    }
    return Status();
  }
  return Status();
}

Status CheckpointStore::RemoveOldGenerations() {
  ASSIGN_OR_RETURN(const std::vector<ManifestFile> all, ListManifests(files_, folder_));
  int64_t kept = generation_ - kKeptGenerations;
  for (const ManifestFile& file : all) {
    if (!file.closed) kept = std::min(kept, file.epoch.generation);
  }
  for (const ManifestFile& file : all) {
    if (file.closed && file.epoch.generation < kept) RETURN_IF_ERROR(files_->Remove(file.path));
  }
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    auto found = ParseName(FileName(entry.path), "start-", false);
    if (!found) found = ParseName(FileName(entry.path), "generation-", false);
    if (found && found->generation < kept) RETURN_IF_ERROR(files_->Remove(entry.path));
  }
  return Status();
}

// Whoever else still writes one is of an older generation, and finds the name that it wants taken.
Status CheckpointStore::RemoveLeftovers() {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    const std::string_view name = FileName(entry.path);
    if (name.starts_with('.') && name.ends_with(".tmp")) RETURN_IF_ERROR(files_->Remove(entry.path));
  }
  PendingFiles* pending = PendingFilesAt(files_, folder_);
  if (pending == nullptr) return Status();
  const Result<std::vector<UnpublishedFile>> uploads = pending->ListUnpublished(folder_);
  if (!uploads.ok()) return Status();  // they cost money and nothing else, and not every key may list them
  for (const UnpublishedFile& upload : *uploads) {
    const auto segment = EpochOfSegment(FileName(upload.path));
    const bool ours = upload.path.substr(0, upload.path.rfind('/')) == folder_;
    if (ours && segment && segment->generation < generation_) RETURN_IF_ERROR(pending->Abort(upload));
  }
  return Status();
}

Status CheckpointStore::RemoveUnclaimedSegments(const Epoch& newest) {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    const auto segment = EpochOfSegment(FileName(entry.path));
    const bool unclaimed = segment && newest < *segment && segment->generation < generation_;
    if (unclaimed) RETURN_IF_ERROR(files_->Remove(entry.path));
  }
  return Status();
}

Status CheckpointStore::BeginAt(int64_t number) {
  const std::string path = fmt::format("{}/start-{}", folder_, generation_);
  ASSIGN_OR_RETURN(const bool mine, files_->CreateIfAbsent(path, std::to_string(number)));
  if (!mine && !PLANTED_FAULT(generation_not_fenced)) return Fenced(generation_, folder_);
  return Status();
}

Result<RestoredCheckpoint> CheckpointStore::Load(const Epoch& epoch) {
  RestoredCheckpoint restored;
  ASSIGN_OR_RETURN(restored.manifest, ReadManifest(files_, folder_ + "/" + ManifestName(epoch)));
  RETURN_IF_ERROR(CheckManifest(restored.manifest, epoch, identity_));
  const std::map<std::string, int64_t> sizes = SizesOf(restored.manifest);
  std::map<std::string, std::string> cache;
  for (const NodeState& node : restored.manifest.nodes) {
    std::vector<std::string>& segments = restored.segments.emplace_back();
    for (const SegmentRef& ref : node.segments) {
      ASSIGN_OR_RETURN(std::string records, ReadSegment(files_, folder_, ref, sizes, &cache));
      segments.push_back(std::move(records));
    }
  }
  return restored;
}

Status CheckpointStore::WarnOfMissing(const std::vector<ManifestFile>& manifests, const Epoch& newest,
                                      std::vector<std::string>* warnings) const {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    const auto committed = ParseName(FileName(entry.path), "committed-", true);
    if (!committed || *committed < newest) continue;
    const bool there = std::any_of(manifests.begin(), manifests.end(), [&](const ManifestFile& file) {
      return file.epoch == *committed && !file.closed;
    });
    if (there) continue;
    warnings->push_back(fmt::format("{}/{} is missing, though every target has its rows: they are made again",
                                    folder_, ManifestName(*committed)));
  }
  return Status();
}

Result<std::optional<RestoredCheckpoint>> CheckpointStore::Restore() {
  FAULT_POINT(restore_state);
  if (!PLANTED_FAULT(generation_not_fenced)) RETURN_IF_ERROR(CloseOlderGenerations());
  RETURN_IF_ERROR(RemoveLeftovers());
  RETURN_IF_ERROR(RemoveOldGenerations());
  ASSIGN_OR_RETURN(const std::vector<ManifestFile> all, ListManifests(files_, folder_));
  std::vector<std::string> warnings;
  Status newest;
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    if (file->closed) continue;
    Result<RestoredCheckpoint> loaded = Load(file->epoch);
    if (loaded.ok()) {
      RETURN_IF_ERROR(WarnOfMissing(all, loaded->manifest.epoch, &warnings));
      // What was passed over may yet be wanted, by who mends it.
      if (warnings.empty()) RETURN_IF_ERROR(RemoveUnclaimedSegments(loaded->manifest.epoch));
      loaded->warnings = std::move(warnings);
      RETURN_IF_ERROR(BeginAt(loaded->manifest.epoch.number + 1));
      return std::optional<RestoredCheckpoint>(std::move(*loaded));
    }
    const Status status = loaded.status();
    if (status.domain() != Domain::kData) return status;  // unreadable now is not damaged
    warnings.push_back(fmt::format("{} passed over: {}", file->path, status.message()));
    if (newest.ok()) newest = status.frames().empty() ? Status(status).At(file->path) : status;
  }
  if (newest.ok()) {
    RETURN_IF_ERROR(BeginAt(1));
    return std::optional<RestoredCheckpoint>();
  }
  return std::move(newest).Hint(
      "no manifest is whole: restore the folder from a backup, or rebuild into empty targets under another "
      "--state folder");
}

std::optional<Epoch> CheckpointStore::EpochOfSegment(std::string_view name) {
  if (std::optional<Epoch> first = ParseName(name, "segment-", true)) return first;
  const size_t end = name.rfind('-');
  const std::string_view file = end == std::string_view::npos ? std::string_view() : name.substr(end + 1);
  if (file.empty() || file.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return ParseName(name.substr(0, end), "segment-", true);
}

Status CheckpointStore::WriteSegment(int64_t number, int file_number,
                                     const std::vector<std::string_view>& records,
                                     const std::vector<SegmentRef*>& refs) {
  FAULT_POINT(snapshot_write);
  const std::string name = SegmentName({generation_, number}, file_number);
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files_->Create(folder_ + "/" + name));
  Status status = file->Append(kSegmentMagic);
  for (size_t i = 0; status.ok() && i < records.size(); ++i) {
    refs[i]->file = name;
    refs[i]->offset = file->size();
    refs[i]->length = static_cast<int64_t>(records[i].size());
    refs[i]->crc = Crc32c(records[i]);
    status = file->Append(records[i]);
  }
  if (status.ok()) status = file->Close();
  // On a full disk half a file takes the room that the next attempt needs.
  if (!status.ok()) (void)files_->Remove(folder_ + "/" + name);
  return status;
}

// The names of the epochs given up, so that none of them is made late.
Status CheckpointStore::CloseAbandoned() {
  while (!abandoned_.empty()) {
    const std::string name = ManifestName({generation_, abandoned_.front()});
    ASSIGN_OR_RETURN(const bool mine, files_->CreateIfAbsent(folder_ + "/" + name, kClosed));
    if (!mine) {
      RETURN_IF_ERROR(CheckNotFenced());
      return Status::External(fmt::format("'{}' was made although its write reported an error", name));
    }
    abandoned_.erase(abandoned_.begin());
  }
  return Status();
}

Status CheckpointStore::CreateManifest(const Manifest& manifest) {
  FAULT_POINT(manifest_before);
  if (!PLANTED_FAULT(generation_not_fenced)) {
    RETURN_IF_ERROR(CheckNotFenced());
    RETURN_IF_ERROR(CloseAbandoned());
  }
  const std::string path = folder_ + "/" + ManifestName(manifest.epoch);
  ASSIGN_OR_RETURN(const bool mine, files_->CreateIfAbsent(path, EncodeManifest(manifest)));
  if (!mine) return Fenced(generation_, folder_);
  return Status();
}

Status CheckpointStore::NoteCommitted(const Epoch& epoch) {
  ASSIGN_OR_RETURN(const bool made, files_->CreateIfAbsent(folder_ + "/" + CommittedName(epoch), identity_));
  (void)made;
  return Status();
}

Status CheckpointStore::Retain(int keep) {
  ASSIGN_OR_RETURN(const std::vector<ManifestFile> all, ListManifests(files_, folder_));
  std::vector<const ManifestFile*> whole;
  for (const ManifestFile& file : all) {
    if (!file.closed) whole.push_back(&file);
  }
  if (static_cast<int>(whole.size()) <= keep) return Status();
  std::set<std::string> referenced;
  const size_t first_kept = whole.size() - static_cast<size_t>(keep);
  for (size_t i = first_kept; i < whole.size(); ++i) {
    ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(files_, whole[i]->path));
    for (const NodeState& node : manifest.nodes) {
      for (const SegmentRef& segment : node.segments) referenced.insert(segment.file);
    }
  }
  const Epoch oldest = whole[first_kept]->epoch;
  // Names of older generations stay while they are the last of theirs: they fence a zombie.
  for (const ManifestFile& file : all) {
    if (!file.closed && file.epoch < oldest) RETURN_IF_ERROR(files_->Remove(file.path));
  }
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_->List(folder_));
  for (const FileInfo& entry : entries) {
    const std::string name(FileName(entry.path));
    const auto segment = EpochOfSegment(name);
    const auto committed = ParseName(name, "committed-", true);
    const bool unused_segment = segment && *segment < oldest && !referenced.contains(name);
    if (unused_segment || (committed && *committed < oldest)) RETURN_IF_ERROR(files_->Remove(entry.path));
  }
  return Status();
}

Result<std::vector<ManifestFile>> ListManifests(FileSystem* files, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files->List(folder));
  std::vector<ManifestFile> manifests;
  for (const FileInfo& entry : entries) {
    auto epoch = ParseName(FileName(entry.path), "manifest-", true);
    if (!epoch) continue;
    ManifestFile file{*epoch, entry.path, entry.size, false};
    if (entry.size == static_cast<int64_t>(kClosed.size())) {
      ASSIGN_OR_RETURN(const std::string content, files->ReadAll(entry.path));
      file.closed = content == kClosed;
    }
    manifests.push_back(std::move(file));
  }
  std::sort(manifests.begin(), manifests.end(),
            [](const ManifestFile& a, const ManifestFile& b) { return a.epoch < b.epoch; });
  return manifests;
}

Result<Manifest> ReadManifest(FileSystem* files, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, files->ReadAll(path));
  Result<Manifest> manifest = DecodeManifest(bytes);
  if (!manifest.ok()) return manifest.status().At(path);
  return manifest;
}

Result<bool> IsKnownCommitted(FileSystem* files, const std::string& folder, const Epoch& epoch) {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files->List(folder));
  return std::any_of(entries.begin(), entries.end(), [name = CommittedName(epoch)](const FileInfo& entry) {
    return FileName(entry.path) == name;
  });
}

Result<CheckpointIdentity> ReadIdentity(FileSystem* files, const std::string& folder) {
  const std::string path = folder + "/identity";
  ASSIGN_OR_RETURN(const std::string text, files->ReadAll(path));
  const size_t end = text.find('\n', kIdentityMagic.size());
  if (!text.starts_with(kIdentityMagic) || end == std::string::npos || text.size() < end + 2) {
    return Status::Data(fmt::format("'{}' is not the identity of a checkpoint folder", path))
        .Hint("restore it from a backup of the folder; a query that never ran needs a folder of its own");
  }
  return CheckpointIdentity{text.substr(kIdentityMagic.size(), end - kIdentityMagic.size()),
                            text.substr(end + 1, text.size() - end - 2)};
}

Status CheckManifest(const Manifest& manifest, const Epoch& epoch, const std::string& identity) {
  if (manifest.identity != identity)
    return Status::Data(fmt::format("{} was copied from another checkpoint folder", ManifestName(epoch)));
  if (manifest.epoch != epoch)
    return Status::Data(fmt::format("{} holds another epoch than its name says", ManifestName(epoch)));
  return Status();
}

Status VerifySegments(FileSystem* files, const std::string& folder, const Manifest& manifest) {
  const std::map<std::string, int64_t> sizes = SizesOf(manifest);
  std::map<std::string, std::string> cache;
  for (const NodeState& node : manifest.nodes) {
    for (const SegmentRef& ref : node.segments) {
      Result<std::string> records = ReadSegment(files, folder, ref, sizes, &cache);
      if (!records.ok()) return records.status().At("state of '" + node.id + "'");
    }
  }
  return Status();
}

}  // namespace caudal
