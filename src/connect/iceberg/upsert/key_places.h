// KeyPlaces: what one task's epoch did to keys, as a file of the checkpoint: run by run, ascending, the place
// of each key's row in the epoch's data files, or that it is gone. docs/formats/key-places.md.
//
// Neither side holds more than a run: an epoch may have more keys than memory. Blocks; one thread each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/index/entry_merge.h"

namespace caudal {

// Names the file in a committable.
struct KeyPlacesFile {
  std::string path;
  int64_t bytes = 0;
  uint32_t checksum = 0;  // CRC32C of its end, which has those of all before
};

class KeyPlacesWriter {
 public:
  // Replaces a file of this name.
  static Result<std::unique_ptr<KeyPlacesWriter>> Make(FileSystem* files, const std::string& path);
  // The next run; trouble with the disk shows in Finish. REQUIRES: ascending, each key once.
  void Add(std::span<const iceberg::IndexEntry> run);
  // Durable on return. May be called again after an error.
  Result<KeyPlacesFile> Finish();
  int64_t buffered_bytes() const { return file_->unwritten(); }

 private:
  KeyPlacesWriter() = default;

  std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::vector<uint64_t> runs_;    // entries of each
  std::vector<uint32_t> blocks_;  // CRC32C of each
  bool ended_ = false;            // all bytes are handed on
  uint32_t checksum_ = 0;         // of the end
};

class KeyPlaces {
 public:
  // Data error if the file is gone or is another one, User error if an older version wrote it. `files`
  // outlives it.
  static Result<std::unique_ptr<KeyPlaces>> Open(FileSystem* files, const KeyPlacesFile& file);

  size_t runs() const { return runs_.size(); }
  int64_t entries() const { return entries_; }
  // Each may be read at a time of its own; outlived by the KeyPlaces. Data error of what it reads if the file
  // is damaged.
  std::unique_ptr<iceberg::EntrySource> Read(size_t run) const;

 private:
  class RunSource;
  struct Run {
    int64_t first = 0, end = 0;  // entries of the file
    size_t block = 0;            // its first
  };
  KeyPlaces() = default;
  Status ReadEnd(const KeyPlacesFile& file);

  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
  std::vector<Run> runs_;
  std::vector<uint32_t> blocks_;
  int64_t entries_ = 0;
};

}  // namespace caudal
