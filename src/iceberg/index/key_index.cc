#include "iceberg/index/key_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/crc32c.h"

namespace caudal::iceberg {
namespace {

constexpr int kVersion = 2;
constexpr size_t kFewRuns = 4;
constexpr int64_t kMergeRead = 256 * 1024;  // entries in memory, of all runs that are merged

// The entries of a run, one after the other.
class RunReader : public EntrySource {
 public:
  RunReader(const IndexRun* run, int64_t at_once) : run_(run), at_once_(at_once) {}

  Result<const IndexEntry*> Next() override {
    if (at_ == entries_.size()) {
      at_ = 0;
      entries_.clear();
      if (share_ < run_->shares()) {
        ASSIGN_OR_RETURN(entries_, run_->Read(at_once_, &share_));
      }
    }
    return entries_.empty() ? nullptr : &entries_[at_++];
  }
  // The number of its data file in the merged run.
  uint32_t Renumber(uint32_t file, IndexRunWriter* writer) {
    if (numbers_.size() <= file) numbers_.resize(file + 1, IndexEntry::kGone);
    if (numbers_[file] == IndexEntry::kGone) numbers_[file] = writer->Number(run_->file(file));
    return numbers_[file];
  }

 private:
  const IndexRun* run_;
  int64_t at_once_;
  std::vector<IndexEntry> entries_;
  std::vector<uint32_t> numbers_;
  size_t at_ = 0;
  uint64_t share_ = 0;  // to be read next
};

// Entries that are in memory.
class SpanSource : public EntrySource {
 public:
  explicit SpanSource(std::span<const IndexEntry> entries) : entries_(entries) {}
  Result<const IndexEntry*> Next() override { return at_ < entries_.size() ? &entries_[at_++] : nullptr; }

 private:
  std::span<const IndexEntry> entries_;
  size_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<KeyIndex>> KeyIndex::Open(FileSystem* files, std::string folder,
                                                 std::string identity) {
  RETURN_IF_ERROR(files->MakeDirectories(folder));
  std::unique_ptr<KeyIndex> index(new KeyIndex(files, std::move(folder), std::move(identity)));
  Status loaded = index->Load();
  if (!loaded.ok() && loaded.domain() != Domain::kData) return loaded;
  if (!loaded.ok()) {
    RETURN_IF_ERROR(index->Clear());
  }
  RETURN_IF_ERROR(index->RemoveStrangers());
  return index;
}

Status KeyIndex::Load() {
  const std::string path = folder_ + "/index.json";
  ASSIGN_OR_RETURN(const bool there, files_->Exists(path));
  if (!there) return Status();
  ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path));
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const Status damaged = Status::Data(fmt::format("'{}' is no index of keys", path));
  try {
    if (!json.is_object() || json.at("version") != kVersion || json.at("identity") != identity_)
      return Status();
    const auto checksum = json.at("checksum").get<uint32_t>();
    json.erase("checksum");
    if (Crc32c(json.dump()) != checksum) return damaged;
    for (const nlohmann::json& run : json.at("runs")) {
      ASSIGN_OR_RETURN(auto opened, IndexRun::Open(files_, folder_ + "/" + run.get<std::string>()));
      runs_.push_back(std::move(opened));
    }
    next_ = json.at("next").get<int64_t>();
    stamp_ = Stamp{json.at("snapshot").get<int64_t>(), json.at("sequence").get<int64_t>()};
  } catch (const std::exception&) {
    return damaged;
  }
  return Status();
}

Status KeyIndex::Store(const std::vector<std::string>& runs, const Stamp& stamp) {
  nlohmann::json json = {{"version", kVersion},
                         {"identity", identity_},
                         {"snapshot", stamp.snapshot_id},
                         {"next", next_},
                         {"sequence", stamp.sequence_number},
                         {"runs", nlohmann::json::array()}};
  for (const std::string& run : runs) json["runs"].push_back(run.substr(folder_.size() + 1));
  json["checksum"] = Crc32c(json.dump());
  const std::string path = folder_ + "/index.json";
  ASSIGN_OR_RETURN(const auto file, files_->Create(path + ".new"));
  RETURN_IF_ERROR(file->Append(json.dump()));
  RETURN_IF_ERROR(file->Close());
  return files_->Rename(path + ".new", path);
}

// Of a crash, or of another table.
Status KeyIndex::RemoveStrangers() {
  std::set<std::string> known;
  for (const auto& run : runs_) known.insert({run->path() + ".keys", run->path() + ".run"});
  ASSIGN_OR_RETURN(const std::vector<FileInfo> found, files_->List(folder_));
  for (const FileInfo& file : found) {
    const bool ours = file.path.ends_with(".keys") || file.path.ends_with(".run");
    if (ours && !known.contains(file.path)) RETURN_IF_ERROR(files_->Remove(file.path));
  }
  return Status();
}

std::string KeyIndex::NextPath() { return fmt::format("{}/{:08}", folder_, next_++); }

void KeyIndex::RemoveRun(const std::string& path) {
  (void)files_->Remove(path + ".keys").ok();
  (void)files_->Remove(path + ".run").ok();
}

std::vector<std::string> KeyIndex::Paths(size_t first, size_t last) const {
  std::vector<std::string> paths;
  for (size_t i = first; i < last; ++i) paths.push_back(runs_[i]->path());
  return paths;
}

std::optional<KeyIndex::Stamp> KeyIndex::stamp() const {
  const std::shared_lock lock(mutex_);
  return stamp_;
}

int64_t KeyIndex::runs() const {
  const std::shared_lock lock(mutex_);
  return static_cast<int64_t>(runs_.size());
}

int64_t KeyIndex::memory() const {
  const std::shared_lock lock(mutex_);
  int64_t bytes = 0;
  for (const auto& run : runs_) bytes += run->memory();
  return bytes;
}

Status KeyIndex::Lost() const {
  return Status::Data(fmt::format("the key index '{}' could not be read after a merge", folder_));
}

Status KeyIndex::Find(std::span<const KeyHash> keys, const Found& found) const {
  const std::shared_lock lock(mutex_);
  if (lost_) return Lost();
  // Each run is gone through once, for the keys that no newer one has.
  std::vector<uint32_t> open(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) open[i] = static_cast<uint32_t>(i);
  for (auto run = runs_.rbegin(); run != runs_.rend() && !open.empty(); ++run) {
    IndexCursor cursor(run->get(), open.size());
    size_t left = 0;
    for (const uint32_t number : open) {
      ASSIGN_OR_RETURN(const std::optional<IndexEntry> entry, cursor.Find(keys[number]));
      if (!entry) {
        open[left++] = number;
      } else if (!entry->gone()) {
        found(number, (*run)->file(entry->file), entry->position);
      }
    }
    open.resize(left);
  }
  return Status();
}

void KeyIndex::Discard() {
  for (const auto& run : std::exchange(added_, {})) RemoveRun(run->path());
}

Status KeyIndex::Clear() {
  Discard();
  RETURN_IF_ERROR(files_->Remove(folder_ + "/index.json"));
  Runs gone;
  {
    const std::unique_lock lock(mutex_);
    gone = std::exchange(runs_, {});
    stamp_.reset();
    lost_ = false;
  }
  for (const auto& run : gone) RemoveRun(run->path());
  return Status();
}

Status KeyIndex::Add(std::span<const IndexEntry> entries, const std::vector<std::string>& data_files) {
  SpanSource source(entries);
  return Add(&source, static_cast<int64_t>(entries.size()), data_files);
}

Status KeyIndex::Add(EntrySource* entries, int64_t most, const std::vector<std::string>& data_files) {
  if (most == 0) return Status();
  std::string path;
  {
    const std::unique_lock lock(mutex_);
    path = NextPath();
  }
  ASSIGN_OR_RETURN(const auto writer, IndexRunWriter::Make(files_, path, most));
  std::vector<uint32_t> numbers;
  for (const std::string& file : data_files) numbers.push_back(writer->Number(file));
  for (;;) {
    ASSIGN_OR_RETURN(const IndexEntry* next, entries->Next());
    if (next == nullptr) break;
    IndexEntry entry = *next;
    if (!entry.gone()) entry.file = numbers[entry.file];
    RETURN_IF_ERROR(writer->Add(entry));
  }
  RETURN_IF_ERROR(writer->Finish());
  ASSIGN_OR_RETURN(auto run, OpenWritten(path));
  added_.push_back(std::move(run));
  return Status();
}

Status KeyIndex::Seal(const Stamp& stamp) {
  const std::unique_lock lock(mutex_);
  if (lost_) return Lost();
  std::vector<std::string> paths = Paths(0, runs_.size());
  for (const auto& run : added_) paths.push_back(run->path());
  RETURN_IF_ERROR(Store(paths, stamp));
  for (auto& run : added_) runs_.push_back(std::move(run));
  added_.clear();
  stamp_ = stamp;
  return Status();
}

size_t KeyIndex::ToMerge() const {
  size_t count = 0;
  int64_t together = 0;
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run, ++count) {
    if (count > 0 && (*run)->size() > 2 * together) break;
    together += (*run)->size();
  }
  return count >= kFewRuns ? count : 0;
}

bool KeyIndex::wants_merge() const {
  const std::shared_lock lock(mutex_);
  return ToMerge() > 0;
}

Status KeyIndex::Merge() {
  std::vector<const IndexRun*> merged;  // nobody else takes runs away, nor puts any before them
  size_t first = 0;
  std::string path;
  {
    const std::unique_lock lock(mutex_);
    first = runs_.size() - ToMerge();
    for (size_t i = first; i < runs_.size(); ++i) merged.push_back(runs_[i].get());
    if (merged.empty()) return Status();
    path = NextPath();
  }
  RETURN_IF_ERROR(WriteMerged(merged, first == 0, path));
  std::vector<std::string> gone;
  Status status;
  {
    const std::unique_lock lock(mutex_);
    std::vector<std::string> paths = Paths(0, first);
    paths.push_back(path);
    for (const std::string& newer : Paths(first + merged.size(), runs_.size())) paths.push_back(newer);
    Status stored = Store(paths, *stamp_);
    if (!stored.ok()) {
      RemoveRun(path);
      return stored;
    }
    gone = Paths(first, first + merged.size());
    status = Replace(first, merged.size(), path);
  }
  for (const std::string& run : gone) RemoveRun(run);
  return status;
}

// The former are out of memory before the new one is in it, so that the largest is there once.
Status KeyIndex::Replace(size_t first, size_t count, const std::string& path) {
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(first);
  runs_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  auto made = IndexRun::Open(files_, path);
  if (made.ok()) {
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(first), std::move(made).value());
    return Status();
  }
  // There is nothing to go back to: the index is to be made anew, and what is added meanwhile is not it.
  runs_.clear();
  stamp_.reset();
  lost_ = true;
  (void)files_->Remove(folder_ + "/index.json").ok();
  return made.status();
}

Status KeyIndex::WriteMerged(const std::vector<const IndexRun*>& runs, bool drop_gone,
                             const std::string& path) {
  int64_t most = 0;
  std::vector<RunReader> readers;
  std::vector<EntrySource*> sources;
  readers.reserve(runs.size());
  for (const IndexRun* run : runs) {
    sources.push_back(&readers.emplace_back(run, kMergeRead / static_cast<int64_t>(runs.size())));
    most += run->size();
  }
  ASSIGN_OR_RETURN(const auto writer, IndexRunWriter::Make(files_, path, most));
  EntryMerge merge(std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const EntryMerge::Merged* next, merge.Next());
    if (next == nullptr) break;
    if (next->hidden || (next->entry.gone() && drop_gone)) continue;
    IndexEntry entry = next->entry;
    if (!entry.gone()) entry.file = readers[next->source].Renumber(entry.file, writer.get());
    RETURN_IF_ERROR(writer->Add(entry));
  }
  return writer->Finish();
}

Result<std::unique_ptr<const IndexRun>> KeyIndex::OpenWritten(const std::string& path) {
  auto run = IndexRun::Open(files_, path);
  if (!run.ok()) RemoveRun(path);
  return run;
}

}  // namespace caudal::iceberg
