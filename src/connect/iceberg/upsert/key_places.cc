#include "connect/iceberg/upsert/key_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"

namespace caudal {
namespace {

using iceberg::IndexEntry;

constexpr std::string_view kMagic = "CDLKEYP2", kFormerMagic = "CDLKEYP1";
constexpr int64_t kBlockEntries = 4096;  // entries, at most
constexpr auto kEntry = static_cast<int64_t>(sizeof(IndexEntry));
constexpr auto kWord = static_cast<int64_t>(sizeof(uint64_t));
constexpr auto kStart = static_cast<int64_t>(kMagic.size());

template <typename T>
std::string_view BytesOf(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Takes as many values off the front of `bytes` as `values` has. REQUIRES: they are there.
template <typename T>
void TakeValues(std::string_view* bytes, std::vector<T>* values) {
  const size_t size = values->size() * sizeof(T);
  if (size > 0) std::memcpy(values->data(), bytes->data(), size);
  bytes->remove_prefix(size);
}

Status Wrong(const std::string& path, std::string_view what) {
  return Status::Data(fmt::format("'{}', which was prepared for the table, {}", path, what))
      .Hint("someone removed or replaced it before it was committed");
}

}  // namespace

Result<std::unique_ptr<KeyPlacesWriter>> KeyPlacesWriter::Make(FileSystem* files, const std::string& path) {
  std::unique_ptr<KeyPlacesWriter> made(new KeyPlacesWriter());
  made->path_ = path;
  ASSIGN_OR_RETURN(made->file_, files->Create(path));
  (void)made->file_->Append(kMagic).ok();
  return made;
}

void KeyPlacesWriter::Add(std::span<const IndexEntry> run) {
  runs_.push_back(run.size());
  for (size_t first = 0; first < run.size(); first += kBlockEntries)
    blocks_.push_back(
        Crc32c(BytesOf(run.subspan(first, std::min<size_t>(kBlockEntries, run.size() - first)))));
  (void)file_->Append(BytesOf(run)).ok();  // it keeps what it could not write
}

Result<KeyPlacesFile> KeyPlacesWriter::Finish() {
  if (!std::exchange(ended_, true)) {
    std::string end(BytesOf(std::span<const uint32_t>(blocks_)));
    end += BytesOf(std::span<const uint64_t>(runs_));
    const uint64_t count = runs_.size();
    end += BytesOf(std::span(&count, 1));
    checksum_ = Crc32c(end);
    (void)file_->Append(end).ok();
  }
  RETURN_IF_ERROR(file_->Close());
  return KeyPlacesFile{path_, file_->size(), checksum_};
}

Result<std::unique_ptr<KeyPlaces>> KeyPlaces::Open(FileSystem* files, const KeyPlacesFile& file) {
  ASSIGN_OR_RETURN(const bool there, files->Exists(file.path));
  if (!there) return Wrong(file.path, "is gone");
  std::unique_ptr<KeyPlaces> made(new KeyPlaces());
  made->path_ = file.path;
  ASSIGN_OR_RETURN(made->file_, files->Open(file.path));
  RETURN_IF_ERROR(made->ReadEnd(file));
  return made;
}

Status KeyPlaces::ReadEnd(const KeyPlacesFile& file) {
  const Status wrong = Wrong(path_, "is another one");
  if (file_->size() != file.bytes || file.bytes < kStart + kWord) return wrong;
  ASSIGN_OR_RETURN(const MutableBufferPtr magic, file_->Read(0, kStart));
  ASSIGN_OR_RETURN(const MutableBufferPtr last, file_->Read(file.bytes - kWord, kWord));
  if (magic->view() == kFormerMagic) {
    return Status::User(fmt::format("'{}' was prepared for the table by an older version", path_))
        .Hint("run that version once more, until it has committed the epoch");
  }
  uint64_t count = 0;
  if (magic->view() != kMagic || last->size() != sizeof(count)) return wrong;
  std::memcpy(&count, last->data(), sizeof(count));
  const int64_t most = (file.bytes - kStart - kWord) / kWord;
  if (count > static_cast<uint64_t>(most)) return wrong;
  const int64_t counts = (static_cast<int64_t>(count) + 1) * kWord;
  ASSIGN_OR_RETURN(const MutableBufferPtr read, file_->Read(file.bytes - counts, counts));
  if (static_cast<int64_t>(read->size()) != counts) return wrong;
  std::vector<uint64_t> sizes(count);
  std::string_view bytes = read->view();
  TakeValues(&bytes, &sizes);
  size_t blocks = 0;
  for (const uint64_t size : sizes) {
    if (size > static_cast<uint64_t>(file.bytes / kEntry)) return wrong;
    runs_.push_back({entries_, entries_ + static_cast<int64_t>(size), blocks});
    entries_ += static_cast<int64_t>(size);
    blocks += (size + kBlockEntries - 1) / kBlockEntries;
    if (entries_ > file.bytes / kEntry) return wrong;
  }
  const int64_t end = counts + static_cast<int64_t>(blocks * sizeof(uint32_t));
  if (kStart + entries_ * kEntry + end != file.bytes) return wrong;
  ASSIGN_OR_RETURN(const MutableBufferPtr whole, file_->Read(file.bytes - end, end));
  if (static_cast<int64_t>(whole->size()) != end || Crc32c(whole->view()) != file.checksum) return wrong;
  blocks_.resize(blocks);
  bytes = whole->view();
  TakeValues(&bytes, &blocks_);
  return Status();
}

class KeyPlaces::RunSource : public iceberg::EntrySource {
 public:
  RunSource(const KeyPlaces* places, const Run& run)
      : places_(places), next_(run.first), end_(run.end), block_(run.block) {}

  Result<const IndexEntry*> Next() override {
    if (at_ == entries_.size()) {
      if (next_ == end_) return nullptr;
      const int64_t count = std::min(kBlockEntries, end_ - next_);
      ASSIGN_OR_RETURN(const MutableBufferPtr bytes,
                       places_->file_->Read(kStart + next_ * kEntry, count * kEntry));
      if (static_cast<int64_t>(bytes->size()) != count * kEntry ||
          Crc32c(bytes->view()) != places_->blocks_[block_])
        return Wrong(places_->path_, "is damaged");
      entries_.resize(static_cast<size_t>(count));
      std::memcpy(entries_.data(), bytes->data(), bytes->size());
      next_ += count;
      ++block_;
      at_ = 0;
    }
    return &entries_[at_++];
  }

 private:
  const KeyPlaces* places_;
  int64_t next_, end_;
  size_t block_, at_ = 0;
  std::vector<IndexEntry> entries_;
};

std::unique_ptr<iceberg::EntrySource> KeyPlaces::Read(size_t run) const {
  return std::make_unique<RunSource>(this, runs_[run]);
}

}  // namespace caudal
