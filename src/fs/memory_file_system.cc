#include "fs/memory_file_system.h"

#include <algorithm>
#include <cstring>

#include "base/fault_point.h"

namespace caudal {
namespace {

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

class MemoryReader : public RandomAccessFile {
 public:
  explicit MemoryReader(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<MutableBufferPtr> Read(int64_t offset, int64_t length) override {
    const int64_t end = std::min(size(), offset + length);
    const int64_t count = std::max<int64_t>(0, end - offset);
    MutableBufferPtr buffer = Buffer::Allocate(static_cast<size_t>(count));
    if (count > 0) std::memcpy(buffer->mutable_data(), bytes_.data() + offset, static_cast<size_t>(count));
    return buffer;
  }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  std::string bytes_;
};

}  // namespace

class MemoryFileSystem::Writer : public WritableFile {
 public:
  Writer(MemoryFileSystem* files, uint64_t id) : files_(files), id_(id) {}

  Status Append(std::string_view bytes) override {
    FAULT_POINT(disk_write);
    std::lock_guard lock(files_->mutex_);
    auto found = files_->files_.find(id_);
    if (found != files_->files_.end()) {  // else unlinked: bytes go nowhere, as on a disk
      found->second.bytes.append(bytes);
      found->second.modified_micros = files_->env_->NowMicros();
    }
    size_ += static_cast<int64_t>(bytes.size());
    return Status();
  }
  Status Sync() override {
    FAULT_POINT(disk_sync);
    std::lock_guard lock(files_->mutex_);
    auto found = files_->files_.find(id_);
    if (found == files_->files_.end()) return Status();
    found->second.durable = found->second.bytes.size();
    found->second.synced = true;
    return Status();
  }
  Status Close() override { return Sync(); }
  int64_t size() const override { return size_; }

 private:
  MemoryFileSystem* files_;
  uint64_t id_;
  int64_t size_ = 0;
};

Status MemoryFileSystem::Missing(const std::string& path) const {
  return Status::External("'" + path + "' does not exist").Hint("check the path");
}

bool MemoryFileSystem::ParentExists(const std::string& path) const {
  const std::string parent = Parent(path);
  return parent.empty() || folders_.contains(parent);
}

MemoryFileSystem::File* MemoryFileSystem::Find(const std::string& path) {
  auto name = names_.find(path);
  return name == names_.end() ? nullptr : &files_[name->second];
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::Create(const std::string& path) {
  FAULT_POINT(disk_write);
  std::lock_guard lock(mutex_);
  if (!ParentExists(path)) return Missing(Parent(path));
  auto old = names_.find(path);
  if (old != names_.end()) files_.erase(old->second);
  const uint64_t id = next_id_++;
  names_[path] = id;
  files_[id].modified_micros = env_->NowMicros();
  return std::unique_ptr<WritableFile>(new Writer(this, id));
}

Result<bool> MemoryFileSystem::CreateIfAbsent(const std::string& path, std::string_view bytes) {
  FAULT_POINT(disk_write);
  std::lock_guard lock(mutex_);
  if (!ParentExists(path)) return Missing(Parent(path));
  if (names_.contains(path)) return false;
  const uint64_t id = next_id_++;
  names_[path] = id;
  files_[id] = File{std::string(bytes), bytes.size(), true, env_->NowMicros()};
  return true;
}

Result<std::unique_ptr<RandomAccessFile>> MemoryFileSystem::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadAll(path));
  return std::unique_ptr<RandomAccessFile>(new MemoryReader(std::move(bytes)));
}

Result<std::string> MemoryFileSystem::ReadAll(const std::string& path) {
  std::lock_guard lock(mutex_);
  const File* file = Find(path);
  if (file == nullptr) return Missing(path);
  return file->bytes;
}

Status MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  FAULT_POINT(disk_rename);
  std::lock_guard lock(mutex_);
  auto source = names_.find(from);
  if (source == names_.end()) return Missing(from);
  if (!ParentExists(to)) return Missing(Parent(to));
  auto target = names_.find(to);
  if (target != names_.end() && from != to) files_.erase(target->second);
  const uint64_t id = source->second;
  names_.erase(source);
  names_[to] = id;
  return Status();
}

Result<bool> MemoryFileSystem::RenameIfAbsent(const std::string& from, const std::string& to) {
  {
    std::lock_guard lock(mutex_);
    if (names_.contains(to)) return false;
  }
  RETURN_IF_ERROR(Rename(from, to));
  return true;
}

Status MemoryFileSystem::Remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  auto found = names_.find(path);
  if (found == names_.end()) return Status();
  files_.erase(found->second);
  names_.erase(found);
  return Status();
}

Status MemoryFileSystem::MakeDirectories(const std::string& path) {
  std::lock_guard lock(mutex_);
  for (std::string folder = path; !folder.empty() && folders_.insert(folder).second;) folder = Parent(folder);
  return Status();
}

Result<std::vector<FileInfo>> MemoryFileSystem::List(const std::string& path) {
  std::lock_guard lock(mutex_);
  const std::string prefix = path + "/";
  std::map<std::string, FileInfo> entries;
  for (auto at = names_.lower_bound(prefix); at != names_.end() && at->first.starts_with(prefix); ++at) {
    if (at->first.find('/', prefix.size()) != std::string::npos) continue;
    const File& file = files_[at->second];
    entries[at->first] = {at->first, static_cast<int64_t>(file.bytes.size()), file.modified_micros,
                          at->second, false};
  }
  for (auto at = folders_.lower_bound(prefix); at != folders_.end() && at->starts_with(prefix); ++at) {
    if (at->find('/', prefix.size()) == std::string::npos) entries[*at] = {*at, 0, 0, 0, true};
  }
  std::vector<FileInfo> list;
  list.reserve(entries.size());
  for (auto& [name, info] : entries) list.push_back(std::move(info));
  return list;
}

Result<FileInfo> MemoryFileSystem::Stat(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (folders_.contains(path)) return FileInfo{path, 0, 0, 0, true};
  auto found = names_.find(path);
  if (found == names_.end()) return Missing(path);
  const File& file = files_[found->second];
  return FileInfo{path, static_cast<int64_t>(file.bytes.size()), file.modified_micros, found->second, false};
}

Result<bool> MemoryFileSystem::Exists(const std::string& path) {
  std::lock_guard lock(mutex_);
  return names_.contains(path) || folders_.contains(path);
}

void MemoryFileSystem::Crash(uint64_t seed) {
  std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  for (auto at = names_.begin(); at != names_.end();) {
    File& file = files_[at->second];
    const uint64_t loose = file.bytes.size() - file.durable;
    const bool vanishes = !file.synced && random() % 2 == 0;
    if (loose > 0) file.bytes.resize(file.durable + random() % (loose + 1));
    if (vanishes) {
      files_.erase(at->second);
      at = names_.erase(at);
    } else {
      file.durable = file.bytes.size();
      file.synced = true;
      ++at;
    }
  }
}

void MemoryFileSystem::Overwrite(const std::string& path, std::string bytes) {
  std::lock_guard lock(mutex_);
  if (File* file = Find(path); file != nullptr) {
    file->bytes = std::move(bytes);
    file->durable = file->bytes.size();
  }
}

std::vector<std::string> MemoryFileSystem::Paths() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [name, id] : names_) paths.push_back(name);
  return paths;
}

}  // namespace caudal
