// TableLife: two writers that upsert the same keys, a compactor, an expirer and a collector of orphans at one
// table, through a catalog that loses answers, is late and reads stale metadata; from a seed.
//
// Rows are numbers that the life itself knows: data files have names and no contents. One thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fs/memory_file_system.h"
#include "iceberg/commit/replace_files.h"
#include "iceberg/commit/row_delta.h"
#include "iceberg/index/key_index.h"
#include "iceberg/scan/scan_plan.h"
#include "iceberg/testing/bad_catalog.h"

namespace caudal::iceberg {

// Faults that are planted; each must be caught.
struct LifePlants {
  bool ignore_head = false;        // a stale head may be asserted
  bool forget_tokens = false;      // the history does not tell what was committed
  bool expire_tokens = false;      // an expiry takes the newest tokens, too
  bool collect_in_flight = false;  // orphans are files that are about to be committed, too
  bool lose_moved = false;         // rows deleted while they are rewritten come back
  bool keep_index = false;         // the index does not follow a compaction
};

class TableLife {
 public:
  TableLife(uint64_t seed, int format_version, const LifePlants& plants);
  // Empty if every key is there once, as the last commit left it, and every file that is named is there; else
  // what is wrong.
  std::string Run();

  int64_t compacted() const { return compacted_; }
  int64_t expired() const { return expired_; }
  int64_t moved() const { return moved_; }
  int64_t followed() const { return followed_; }

 private:
  struct Row {
    int key = 0, pipeline = 0, epoch = 0;
  };
  struct LiveFileRows {
    std::string path;
    int64_t records = 0;
    std::vector<int64_t> gone;
    int64_t bucket = 0;
  };
  class Keys;

  void Upsert(int pipeline);
  void CommitNext(int pipeline);
  void Compact();
  FileReplacement Rewrite(const std::vector<LiveFileRows>& files);
  void Expire();
  void Collect();
  void Meanwhile();
  DataFile NewFile(const std::string& name, const std::vector<Row>& rows, int64_t bucket);
  // What arrives at the catalog and is about to be taken.
  void See(TableCommit* commit, const TableMetadata& table);
  Result<std::vector<LiveFileRows>> Live(const TableMetadata& table, const Snapshot& head) const;
  std::string Check() const;
  std::string CheckFiles(const TableMetadata& table) const;

  LifePlants plants_;
  ManualEnv env_;
  MemoryFileSystem memory_;
  TableFiles files_;
  BadCatalog catalog_;
  std::mt19937_64 random_;
  HeadFiles known_, known_to_compactor_;
  std::array<std::unique_ptr<KeyIndex>, 2> indexes_;
  std::map<std::string, std::vector<Row>> contents_;      // by data file
  std::map<std::pair<int, int>, std::set<int>> keys_of_;  // by pipeline and epoch
  std::vector<std::pair<int, int>> taken_;                // epochs, as the catalog took them
  int files_made_ = 0;
  std::array<int, 2> next_epoch_ = {};
  std::array<bool, 2> busy_ = {};
  int64_t compacted_ = 0, expired_ = 0, moved_ = 0, followed_ = 0;
  std::string wrong_;
};

}  // namespace caudal::iceberg
