#include "connect/filesystem/file_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs/file_path.h"

namespace caudal {
namespace {

// A file's time is that of the kernel's last tick, some milliseconds behind the clock.
constexpr int64_t kTickMicros = 50'000;

FileVersion VersionOf(const ListedFile& file) {
  return {file.name, file.info.size, file.info.modified_micros};
}

}  // namespace

FileQueue::FileQueue(FileSystem* files, Env* env, int split, bool counts_bytes, bool watched,
                     FilePosition position, PathPattern pattern)
    : files_(files),
      env_(env),
      split_(split),
      counts_bytes_(counts_bytes),
      watched_(watched),
      position_(std::move(position)),
      pattern_(std::move(pattern)) {
  if (position_.done) last_ = position_.file;
  // What the runs before read is known.
  memory_.read = position_.read;
  for (const FileVersion& read : position_.read) seen_.emplace(read.name, Known{read, 0});
}

Status FileQueue::CheckPosition(const ListedFile* found) const {
  const std::string read = fmt::format("{} {}", position_.offset, counts_bytes_ ? "bytes" : "rows");
  const auto broken = [&](std::string_view what) {
    return Status::Data(fmt::format("it {} when {} of it were read", what, read))
        .Hint("put the file back as it was, or start again with a new checkpoint");
  };
  if (found == nullptr) return broken("went away");
  const FileInfo& now = found->info;
  // One that was put back from a copy with its time is as good as the one that was there.
  const bool put_back = now.size == position_.size && now.modified_micros == position_.modified_micros;
  if (position_.identity != 0 && now.identity != 0 && now.identity != position_.identity && !put_back)
    return broken("was replaced by another file");
  if (counts_bytes_ && now.size < position_.offset)
    return broken(fmt::format("was cut to {} bytes", now.size));
  const bool other = counts_bytes_ ? now.size < position_.size : now.size != position_.size;
  if (position_.size >= 0 && other)
    return broken(fmt::format("went from {} to {} bytes", position_.size, now.size));
  return Status();
}

void FileQueue::Interrupt(const ListedFile* found, Status why) {
  const std::string& name = position_.file;
  Interrupted& interrupted = interrupted_.emplace();
  interrupted.why = std::move(why);
  if (found != nullptr) {
    interrupted.file = *found;
  } else {
    interrupted.file.name = name;
    interrupted.file.info.path = position_.root + "/" + name;
  }
  const size_t known = held_.size() + waiting_.size();
  std::erase_if(held_, [&](const Held& held) { return held.file.name == name; });
  std::erase_if(waiting_, [&](const ListedFile& file) { return file.name == name; });
  if (held_.size() + waiting_.size() < known) waiting_bytes_ -= interrupted.file.info.size;
  last_ = name;
  NoteRead(VersionOf(interrupted.file));
}

bool FileQueue::AppearedSince(const ListedFile& file) const {
  const std::vector<std::string>& recent = position_.recent;
  return file.info.changed_micros >= position_.listed_micros - kTickMicros &&
         std::find(recent.begin(), recent.end(), file.name) == recent.end();
}

std::unordered_set<std::string> FileQueue::Appeared(std::vector<const ListedFile*> behind) const {
  NameDigest rest{0, 0};
  for (const ListedFile* file : behind) rest.Add(file->name);
  std::unordered_set<std::string> appeared;
  const NameDigest& known = position_.passed;
  const auto take = [&](const ListedFile* file) {
    rest.Remove(file->name);
    appeared.insert(file->name);
  };
  if (known.known() && rest.count == known.count + 1) {
    const auto is_it = [&](const ListedFile* file) { return HashOfName(file->name) == rest.sum - known.sum; };
    const auto one = std::find_if(behind.begin(), behind.end(), is_it);
    if (one != behind.end()) take(*one);
  }
  std::erase_if(behind, [&](const ListedFile* file) { return seen_.contains(file->name); });
  std::stable_sort(behind.begin(), behind.end(), [](const ListedFile* a, const ListedFile* b) {
    return a->info.changed_micros > b->info.changed_micros;
  });
  for (const ListedFile* file : behind) {
    if (known.known() && rest == known) return appeared;
    if (AppearedSince(*file)) take(file);
  }
  // A file may come with an old time, and the clock may have been set back. More names than were known are
  // new ones: the youngest, as far as anyone can tell.
  for (const ListedFile* file : behind) {
    if (!known.known() || rest.count <= known.count) break;
    if (!appeared.contains(file->name)) take(file);
  }
  return appeared;
}

bool FileQueue::IsBehind(const std::string& name) const {
  return last_.empty() ? name < position_.file : name <= last_;
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
  } else if (IsBehind(file.name) && !passed_over_.contains(file.name)) {
    late_.push_back(file);
  }
  *known = std::move(now);
}

void FileQueue::Add(const ListedFile& file, bool behind, bool appeared) {
  if (!behind) {
    held_.push_back({file, looks_});
    waiting_bytes_ += file.info.size;
  } else if (appeared) {
    late_.push_back(file);
    passed_over_.insert(file.name);
  }
}

void FileQueue::Release(int64_t looked_micros) {
  std::sort(held_.begin(), held_.end(),
            [](const Held& a, const Held& b) { return a.file.name < b.file.name; });
  // A look that began after a name was found, or clearly after its file's time, found all that came before.
  // A store's clock is another one, it tells seconds, and an upload has the time of its begin.
  const bool in_store = !SchemeOf(position_.root).empty();
  const auto waits = [&](const Held& held) {
    const bool is_young = in_store || held.file.info.changed_micros >= looked_micros - kTickMicros;
    return held.look == looks_ && is_young;
  };
  auto end = watched_ ? std::find_if_not(held_.rbegin(), held_.rend(), waits).base() : held_.end();
  for (auto held = held_.begin(); held != end; ++held) waiting_.push_back(std::move(held->file));
  held_.erase(held_.begin(), end);
}

void FileQueue::Forget() {
  const auto remembered = [&](const std::string& name) {
    return std::any_of(memory_.read.begin(), memory_.read.end(),
                       [&](const FileVersion& read) { return read.name == name; });
  };
  std::erase_if(seen_, [&](const auto& entry) {
    const auto& [name, known] = entry;
    const bool gone = known.look != looks_ && IsBehind(name) && !remembered(name);
    if (gone) passed_over_.erase(name);
    return gone;
  });
}

Status FileQueue::List() {
  const int64_t now = env_->NowMicros();
  ASSIGN_OR_RETURN(FileListing found, ListFiles(files_, position_.root));
  Warn(found);
  const bool resumes = !started_ && !position_.file.empty();
  const ListedFile* resumed = nullptr;
  const bool any = !found.files.empty();
  std::erase_if(found.files, [&](const ListedFile& file) {
    return SplitOfFile(file.name, position_.splits) != split_ || !pattern_.Matches(file.info.path);
  });
  std::vector<const ListedFile*> passed;
  for (const ListedFile& file : found.files) {
    if (IsBehind(file.name)) passed.push_back(&file);
  }
  listing_ = {now, {}, {0, 0}, ++looks_};
  for (const ListedFile* file : passed) listing_.passed.Add(file->name);
  std::unordered_set<std::string> appeared;
  if (resumes) appeared = Appeared(std::move(passed));
  for (const ListedFile& file : found.files) {
    if (file.info.changed_micros >= now - kTickMicros) listing_.recent.push_back(file.name);
    if (resumes && file.name == position_.file) resumed = &file;
    const auto [known, is_new] = seen_.try_emplace(file.name, Known{VersionOf(file), looks_});
    known->second.look = looks_;
    if (is_new) {
      Add(file, IsBehind(file.name), !resumes || appeared.contains(file.name));
    } else {
      Compare(file, &known->second.version);
    }
  }
  Release(now);
  Forget();
  if (resumes && !position_.done) {
    Status same = CheckPosition(resumed);
    // Where nothing is left, somebody took the folder away and not a file.
    if (!same.ok() && !any) return std::move(same).At(fmt::format("file '{}'", position_.file));
    if (!same.ok()) Interrupt(resumed, std::move(same));
  }
  std::sort(waiting_.begin(), waiting_.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  started_ = true;
  return Status();
}

void FileQueue::NoteRead(FileVersion version) {
  seen_[version.name].version = version;
  memory_.Remember(std::move(version));
}

std::optional<ListedFile> FileQueue::Next() {
  if (waiting_.empty()) return std::nullopt;
  ListedFile file = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= file.info.size;
  last_ = file.name;
  return file;
}

std::vector<ListedFile> FileQueue::TakeLate() { return std::exchange(late_, {}); }
std::vector<FileQueue::Changed> FileQueue::TakeChanged() { return std::exchange(changed_, {}); }
std::optional<FileQueue::Interrupted> FileQueue::TakeInterrupted() {
  return std::exchange(interrupted_, std::nullopt);
}
std::vector<std::string> FileQueue::TakeWarnings() { return std::exchange(warnings_, {}); }

const FilePosition* FileQueue::Resumed(const ListedFile& file) const {
  return !position_.done && file.name == position_.file ? &position_ : nullptr;
}

int64_t FileQueue::StartOffset(const ListedFile& file) const {
  return !position_.done && file.name == position_.file ? position_.offset : 0;
}

}  // namespace caudal
