#include "iceberg/index/index_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/crc32c.h"

namespace caudal::iceberg {
namespace {

constexpr std::string_view kMagic = "CDLKEYR2";
constexpr int64_t kShare = 64;          // keys, about
constexpr int64_t kReadAhead = 16'384;  // entries
constexpr size_t kBuffer = size_t{1} << 20;
constexpr int kMostBits = 28;
constexpr uint64_t kKeysOfAWord = 8;

struct Footer {
  uint64_t size = 0, words = 0, bits = 0, files = 0;
  uint32_t checksum = 0;  // of all before it, in this footer too
  uint32_t end = 0x52594B43;

  uint32_t Checksum(uint32_t before) const {
    return Crc32c({reinterpret_cast<const char*>(this), offsetof(Footer, checksum)}, before);
  }
};

// Reads a file from its start, piece by piece, and adds up its checksum.
class TableReader {
 public:
  // Up to `end`.
  TableReader(RandomAccessFile* file, int64_t end) : file_(file), end_(end) {}

  // False: the file does not have so many values.
  template <typename T>
  bool has(uint64_t count) const {
    return count <= static_cast<uint64_t>(end_ - at_) / sizeof(T);
  }
  // REQUIRES: it has them. False: it has become shorter.
  template <typename T>
  Result<bool> Take(std::span<T> values) {
    auto* out = reinterpret_cast<char*>(values.data());
    for (auto left = static_cast<int64_t>(values.size_bytes()); left > 0;) {
      ASSIGN_OR_RETURN(const MutableBufferPtr bytes,
                       file_->Read(at_, std::min(left, static_cast<int64_t>(kBuffer))));
      const auto size = static_cast<int64_t>(bytes->size());
      if (size == 0) return false;
      checksum_ = Crc32c(bytes->view(), checksum_);
      std::memcpy(out, bytes->data(), bytes->size());
      out += size;
      at_ += size;
      left -= size;
    }
    return true;
  }
  bool at_end() const { return at_ == end_; }
  uint32_t checksum() const { return checksum_; }

 private:
  RandomAccessFile* file_;
  int64_t at_ = 0, end_;
  uint32_t checksum_ = 0;
};

uint64_t WordOf(const KeyHash& key, uint64_t words) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(key.high) * words) >> 64);
}

// Four bits of a word.
uint64_t MaskOf(const KeyHash& key) {
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) mask |= uint64_t{1} << (key.low >> (6 * i) & 63);
  return mask;
}

uint64_t ShareWith(const KeyHash& key, int bits) { return bits == 0 ? 0 : key.high >> (64 - bits); }

}  // namespace

Result<std::unique_ptr<IndexRunWriter>> IndexRunWriter::Make(FileSystem* files, const std::string& path,
                                                             int64_t most) {
  if (most >= INT64_C(0xFFFFFFFF)) return Status::User("an index of more than 2^32 keys is not written");
  std::unique_ptr<IndexRunWriter> made(new IndexRunWriter(files, path));
  ASSIGN_OR_RETURN(made->keys_, files->Create(path + ".keys"));
  ASSIGN_OR_RETURN(made->table_, files->Create(path + ".run"));
  const auto shares = static_cast<uint64_t>(std::max<int64_t>(1, most / kShare));
  made->bits_ = std::min(kMostBits, static_cast<int>(std::bit_width(shares)) - 1);
  made->starts_.reserve((size_t{1} << made->bits_) + 1);
  made->sums_.resize(size_t{1} << made->bits_);
  made->words_ = static_cast<uint64_t>(most) / kKeysOfAWord + 1;
  made->filter_ = kMagic;
  return made;
}

IndexRunWriter::~IndexRunWriter() {
  if (whole_) return;
  keys_.reset();
  table_.reset();
  for (const char* end : {".keys", ".run"}) (void)files_->Remove(path_ + end).ok();
}

// The share's first entry is the next one, as is that of every share before it which has none.
void IndexRunWriter::Fill(uint64_t share) {
  while (starts_.size() <= share) starts_.push_back(static_cast<uint32_t>(size_));
}

Status IndexRunWriter::Add(const IndexEntry& entry) {
  const uint64_t share = ShareWith(entry.key, bits_);
  Fill(share);
  const std::string_view bytes(reinterpret_cast<const char*>(&entry), sizeof(entry));
  sums_[share] = Crc32c(bytes, sums_[share]);
  const uint64_t word = WordOf(entry.key, words_);
  for (; word_number_ < word; ++word_number_) {
    filter_.append(reinterpret_cast<const char*>(&word_), sizeof(word_));
    word_ = 0;
  }
  word_ |= MaskOf(entry.key);
  if (filter_.size() >= kBuffer) {
    checksum_ = Crc32c(filter_, checksum_);
    RETURN_IF_ERROR(table_->Append(filter_));
    filter_.clear();
  }
  ++size_;
  buffer_ += bytes;
  if (buffer_.size() < kBuffer) return Status();
  RETURN_IF_ERROR(keys_->Append(buffer_));
  buffer_.clear();
  return Status();
}

uint32_t IndexRunWriter::Number(const std::string& data_file) {
  const auto [found, is_new] = numbers_.emplace(data_file, static_cast<uint32_t>(data_files_.size()));
  if (is_new) data_files_.push_back(data_file);
  return found->second;
}

Status IndexRunWriter::Finish() {
  RETURN_IF_ERROR(keys_->Append(buffer_));
  RETURN_IF_ERROR(keys_->Close());
  for (; word_number_ < words_; ++word_number_) {
    filter_.append(reinterpret_cast<const char*>(&word_), sizeof(word_));
    word_ = 0;
  }
  Fill(uint64_t{1} << bits_);
  std::string rest = std::move(filter_);
  rest.append(reinterpret_cast<const char*>(starts_.data()), starts_.size() * sizeof(uint32_t));
  rest.append(reinterpret_cast<const char*>(sums_.data()), sums_.size() * sizeof(uint32_t));
  for (const std::string& file : data_files_) {
    const auto length = static_cast<uint32_t>(file.size());
    rest.append(reinterpret_cast<const char*>(&length), sizeof(length));
    rest += file;
  }
  Footer footer{static_cast<uint64_t>(size_), words_, static_cast<uint64_t>(bits_), data_files_.size()};
  footer.checksum = footer.Checksum(Crc32c(rest, checksum_));
  RETURN_IF_ERROR(table_->Append(rest));
  RETURN_IF_ERROR(table_->Append({reinterpret_cast<const char*>(&footer), sizeof(footer)}));
  RETURN_IF_ERROR(table_->Close());
  whole_ = true;
  return Status();
}

Result<std::unique_ptr<const IndexRun>> IndexRun::Open(FileSystem* files, const std::string& path) {
  std::unique_ptr<IndexRun> run(new IndexRun());
  run->path_ = path;
  for (const char* end : {".run", ".keys"}) {
    ASSIGN_OR_RETURN(const bool there, files->Exists(path + end));
    if (!there) return Status::Data(fmt::format("'{}{}' is missing", path, end));
  }
  ASSIGN_OR_RETURN(const auto table, files->Open(path + ".run"));
  ASSIGN_OR_RETURN(run->keys_, files->Open(path + ".keys"));
  Status read = run->ReadTable(table.get());
  if (!read.ok()) return std::move(read).At(fmt::format("key index '{}'", path));
  return std::unique_ptr<const IndexRun>(std::move(run));
}

// Not as a whole, since the filter of many keys would then be in memory twice.
Status IndexRun::ReadTable(RandomAccessFile* table) {
  Footer footer;
  const Status damaged = Status::Data("a run of the index of keys is damaged");
  constexpr auto kFooter = static_cast<int64_t>(sizeof(footer));
  if (table->size() < kFooter) return damaged;
  ASSIGN_OR_RETURN(const MutableBufferPtr end, table->Read(table->size() - kFooter, kFooter));
  if (end->size() != sizeof(footer)) return damaged;
  std::memcpy(&footer, end->data(), sizeof(footer));
  if (footer.end != Footer().end || footer.bits > kMostBits || footer.words == 0) return damaged;
  bits_ = static_cast<int>(footer.bits);
  const uint64_t shares = uint64_t{1} << bits_;
  TableReader reader(table, table->size() - kFooter);
  const auto take = [&](uint64_t count, auto* values) -> Status {
    if (!reader.has<std::remove_reference_t<decltype((*values)[0])>>(count)) return damaged;
    values->resize(count);
    ASSIGN_OR_RETURN(const bool there, reader.Take(std::span(*values)));
    return there ? Status() : damaged;
  };
  std::string magic;
  RETURN_IF_ERROR(take(kMagic.size(), &magic));
  if (magic != kMagic || !reader.has<uint64_t>(footer.words)) return damaged;
  ASSIGN_OR_RETURN(filter_, MappedWords::Make(footer.words));
  ASSIGN_OR_RETURN(const bool filled, reader.Take(filter_.words()));
  if (!filled) return damaged;
  RETURN_IF_ERROR(take(shares + 1, &starts_));
  RETURN_IF_ERROR(take(shares, &sums_));
  std::vector<uint32_t> length;
  for (uint64_t i = 0; i < footer.files; ++i) {
    RETURN_IF_ERROR(take(1, &length));
    RETURN_IF_ERROR(take(length[0], &data_files_.emplace_back()));
  }
  size_ = starts_.back();
  const bool fits = reader.at_end() && footer.checksum == footer.Checksum(reader.checksum()) &&
                    footer.size == starts_.back() && starts_[0] == 0 &&
                    std::is_sorted(starts_.begin(), starts_.end()) &&
                    keys_->size() == size_ * static_cast<int64_t>(sizeof(IndexEntry));
  return fits ? Status() : damaged;
}

int64_t IndexRun::memory() const {
  size_t bytes = filter_.size() * sizeof(uint64_t) + (starts_.size() + sums_.size()) * sizeof(uint32_t);
  for (const std::string& file : data_files_) bytes += sizeof(file) + file.size();
  return static_cast<int64_t>(bytes);
}

bool IndexRun::MayContain(const KeyHash& key) const {
  const uint64_t mask = MaskOf(key);
  return (filter_[WordOf(key, filter_.size())] & mask) == mask;
}

uint64_t IndexRun::ShareOf(const KeyHash& key) const { return ShareWith(key, bits_); }

bool IndexRun::IsWhole(uint64_t share, std::span<const IndexEntry> entries) const {
  const std::string_view bytes(reinterpret_cast<const char*>(entries.data()), entries.size_bytes());
  return Crc32c(bytes) == sums_[share] &&
         std::all_of(entries.begin(), entries.end(), [this](const IndexEntry& entry) {
           return entry.gone() || entry.file < data_files_.size();
         });
}

Result<std::vector<IndexEntry>> IndexRun::Read(int64_t least, uint64_t* share) const {
  constexpr auto kSize = static_cast<int64_t>(sizeof(IndexEntry));
  const uint64_t from = *share;
  const int64_t first = starts_[from];
  do ++*share;
  while (*share < shares() && starts_[*share] - first < least);
  const int64_t count = starts_[*share] - first;
  ASSIGN_OR_RETURN(const MutableBufferPtr bytes, keys_->Read(first * kSize, count * kSize));
  if (static_cast<int64_t>(bytes->size()) != count * kSize)
    return Status::Data(fmt::format("'{}.keys' ends too early", path_));
  std::vector<IndexEntry> entries(static_cast<size_t>(count));
  if (count > 0) std::memcpy(entries.data(), bytes->data(), bytes->size());
  for (uint64_t one = from; one < *share; ++one) {
    const auto begin = static_cast<size_t>(starts_[one] - first);
    if (!IsWhole(one, std::span(entries).subspan(begin, starts_[one + 1] - starts_[one])))
      return Status::Data(fmt::format("'{}.keys' is damaged behind entry {}", path_, starts_[one]));
  }
  return entries;
}

IndexCursor::IndexCursor(const IndexRun* run, size_t keys) : run_(run) {
  // Where every eighth share or so is asked for, reading on costs less than reading anew.
  const int64_t apart = run_->size() / static_cast<int64_t>(keys + 1);
  ahead_ = apart < 8 * kShare ? kReadAhead : 0;
}

Result<std::optional<IndexEntry>> IndexCursor::Find(const KeyHash& key) {
  if (run_->size() == 0 || !run_->MayContain(key)) return std::optional<IndexEntry>();
  uint64_t share = run_->ShareOf(key);
  const auto [first, last] = run_->Entries(share);
  const auto window_last = window_first_ + static_cast<int64_t>(window_.size());
  if (first < window_first_ || last > window_last) {
    ASSIGN_OR_RETURN(window_, run_->Read(ahead_, &share));
    window_first_ = first;
  }
  const auto begin = window_.begin() + (first - window_first_),
             end = window_.begin() + (last - window_first_);
  const auto found = std::lower_bound(
      begin, end, key, [](const IndexEntry& one, const KeyHash& wanted) { return one.key < wanted; });
  if (found == end || found->key != key) return std::optional<IndexEntry>();
  return std::optional<IndexEntry>(*found);
}

}  // namespace caudal::iceberg
