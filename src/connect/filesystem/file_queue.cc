#include "connect/filesystem/file_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal {
namespace {

// A file's time is that of the kernel's last tick, some milliseconds behind the clock.
constexpr int64_t kTickMicros = 50'000;

FileVersion VersionOf(const ListedFile& file) {
  return {file.name, file.info.size, file.info.modified_micros};
}

}  // namespace

FileQueue::FileQueue(FileSystem* files, Env* env, int split, bool counts_bytes, FilePosition position,
                     PathPattern pattern)
    : files_(files),
      env_(env),
      split_(split),
      counts_bytes_(counts_bytes),
      position_(std::move(position)),
      pattern_(std::move(pattern)) {
  if (position_.done) last_ = position_.file;
  // What the runs before read is known.
  memory_.read = position_.read;
  for (const FileVersion& read : position_.read) seen_.emplace(read.name, read);
}

Status FileQueue::CheckPosition(const ListedFile* found) const {
  const auto broken = [&](std::string_view what) {
    return Status::Data(fmt::format("file '{}' {}", position_.file, what))
        .Hint("put the file back as it was, or start again with a new checkpoint");
  };
  if (found == nullptr)
    return broken(fmt::format("is gone, {} bytes or rows of it were read", position_.offset));
  const uint64_t identity = found->info.identity;
  if (position_.identity != 0 && identity != 0 && identity != position_.identity) {
    return broken("was replaced by another file while it was being read");
  }
  if (counts_bytes_ && found->info.size < position_.offset) {
    return broken(fmt::format("has {} bytes, fewer than the {} that were read of it", found->info.size,
                              position_.offset));
  }
  return Status();
}

bool FileQueue::AppearedSince(const ListedFile& file) const {
  const std::vector<std::string>& recent = position_.recent;
  return file.info.changed_micros >= position_.listed_micros - kTickMicros &&
         std::find(recent.begin(), recent.end(), file.name) == recent.end();
}

void FileQueue::Warn(const FileListing& listing) {
  const auto warn = [this](std::string warning) {
    if (warned_.insert(warning).second) warnings_.push_back(std::move(warning));
  };
  if (split_ != 0) return;  // the splits of one source see the same folder
  if (!listing.exists) warn(fmt::format("there is no folder '{}' yet: waiting for it", position_.root));
  for (const std::string& entry : listing.unreadable) warn(entry + ": it is left out");
}

void FileQueue::Compare(const ListedFile& file, FileVersion* known) {
  FileVersion now = VersionOf(file);
  if (now == *known) return;
  const auto is_it = [&](const FileVersion& read) { return read.name == file.name; };
  const auto remembered = std::find_if(memory_.read.begin(), memory_.read.end(), is_it);
  if (remembered != memory_.read.end()) {
    changed_.push_back({file, *remembered});
    *remembered = now;
  } else if (!last_.empty() && file.name <= last_ && !passed_over_.contains(file.name)) {
    late_.push_back(file);
  }
  *known = std::move(now);
}

void FileQueue::Add(const ListedFile& file, bool resumes) {
  // At the first look after a restart, older names are read unless they appeared after the last look.
  const bool behind = resumes ? file.name < position_.file : !last_.empty() && file.name < last_;
  if (behind) {
    if (resumes && !AppearedSince(file)) return;
    late_.push_back(file);
    passed_over_.insert(file.name);
  } else if (!(position_.done && file.name == position_.file)) {
    waiting_.push_back(file);
  }
}

Status FileQueue::List() {
  const int64_t now = env_->NowMicros();
  ASSIGN_OR_RETURN(FileListing found, ListFiles(files_, position_.root));
  Warn(found);
  const bool resumes = !started_ && !position_.file.empty();
  const ListedFile* resumed = nullptr;
  listing_ = {now, {}};
  for (const ListedFile& file : found.files) {
    if (SplitOfFile(file.name, position_.splits) != split_ || !pattern_.Matches(file.info.path)) continue;
    if (file.info.changed_micros >= now - kTickMicros) listing_.recent.push_back(file.name);
    if (resumes && file.name == position_.file) resumed = &file;
    const auto [known, is_new] = seen_.try_emplace(file.name, VersionOf(file));
    if (is_new) {
      Add(file, resumes);
    } else {
      Compare(file, &known->second);
    }
  }
  if (resumes && !position_.done) RETURN_IF_ERROR(CheckPosition(resumed));
  std::sort(waiting_.begin(), waiting_.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  started_ = true;
  return Status();
}

void FileQueue::NoteRead(FileVersion version) {
  seen_[version.name] = version;
  memory_.Remember(std::move(version));
}

std::optional<ListedFile> FileQueue::Next() {
  if (waiting_.empty()) return std::nullopt;
  ListedFile file = std::move(waiting_.front());
  waiting_.pop_front();
  last_ = file.name;
  return file;
}

std::vector<ListedFile> FileQueue::TakeLate() { return std::exchange(late_, {}); }
std::vector<FileQueue::Changed> FileQueue::TakeChanged() { return std::exchange(changed_, {}); }
std::vector<std::string> FileQueue::TakeWarnings() { return std::exchange(warnings_, {}); }

const FilePosition* FileQueue::Resumed(const ListedFile& file) const {
  return !position_.done && file.name == position_.file ? &position_ : nullptr;
}

int64_t FileQueue::StartOffset(const ListedFile& file) const {
  return !position_.done && file.name == position_.file ? position_.offset : 0;
}

int64_t FileQueue::waiting_bytes() const {
  int64_t bytes = 0;
  for (const ListedFile& file : waiting_) bytes += file.info.size;
  return bytes;
}

}  // namespace caudal
