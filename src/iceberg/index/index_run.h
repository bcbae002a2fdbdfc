// IndexRun: keys in the order of their hashes, each with its place, in a pair of files that never change
// (docs/formats/key-index.md): `<name>.keys`, the entries, and `<name>.run`, all that is kept in memory of
// them: where each share of the hashes begins and its checksum, one byte a key of a filter, and the data
// files by number.
//
// Any thread, once it is open. Reads of the entries block, and give none that are damaged.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_words.h"
#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/index/key_hash.h"

namespace caudal::iceberg {

class IndexRun {
 public:
  // `path` without the ends. Data error if the files are not whole.
  static Result<std::unique_ptr<const IndexRun>> Open(FileSystem* files, const std::string& path);

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  const std::string& file(uint32_t number) const { return data_files_[number]; }
  int64_t memory() const;
  // False: it has no such key. True for some that it does not have.
  bool MayContain(const KeyHash& key) const;
  uint64_t shares() const { return sums_.size(); }
  // The share in which a key stands, if it is there.
  uint64_t ShareOf(const KeyHash& key) const;
  // The numbers of a share's first entry and of that behind its last.
  std::pair<int64_t, int64_t> Entries(uint64_t share) const { return {starts_[share], starts_[share + 1]}; }
  // The entries of share `*share` and of those behind it, until there are `least`; sets `share` behind them.
  // Data error if they are not those that were written.
  Result<std::vector<IndexEntry>> Read(int64_t least, uint64_t* share) const;

 private:
  IndexRun() = default;
  Status ReadTable(RandomAccessFile* table);
  bool IsWhole(uint64_t share, std::span<const IndexEntry> entries) const;

  std::string path_;
  std::unique_ptr<RandomAccessFile> keys_;
  int64_t size_ = 0;
  int bits_ = 0;                  // of a hash that choose its share
  std::vector<uint32_t> starts_;  // 2^bits + 1
  std::vector<uint32_t> sums_;    // CRC32C of each share
  MappedWords filter_;
  std::vector<std::string> data_files_;
};

// Finds keys in ascending order, reading ahead where many are asked for. One thread.
class IndexCursor {
 public:
  // `keys`: how many will be asked for, about. The run outlives it.
  IndexCursor(const IndexRun* run, size_t keys);
  Result<std::optional<IndexEntry>> Find(const KeyHash& key);

 private:
  const IndexRun* run_;
  int64_t ahead_ = 0;  // entries to read at once, at least
  std::vector<IndexEntry> window_;
  int64_t window_first_ = 0;
};

// Leaves no files behind unless it is finished.
class IndexRunWriter {
 public:
  ~IndexRunWriter();
  // `most`: entries that will come, at most.
  static Result<std::unique_ptr<IndexRunWriter>> Make(FileSystem* files, const std::string& path,
                                                      int64_t most);
  // REQUIRES: behind the entry before it; its file is a number of Number's, or kGone.
  Status Add(const IndexEntry& entry);
  uint32_t Number(const std::string& data_file);
  // Both files are whole and durable.
  Status Finish();

 private:
  IndexRunWriter(FileSystem* files, const std::string& path) : files_(files), path_(path) {}
  void Fill(uint64_t share);

  FileSystem* files_;
  std::string path_;
  bool whole_ = false;
  std::unique_ptr<WritableFile> keys_, table_;
  std::string buffer_;
  int64_t size_ = 0;
  int bits_ = 0;
  std::vector<uint32_t> starts_, sums_;
  uint64_t words_ = 0, word_number_ = 0, word_ = 0;  // of the filter, written in the order of the hashes
  std::string filter_;                               // of it, what is not yet in the file
  uint32_t checksum_ = 0;
  std::vector<std::string> data_files_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace caudal::iceberg
