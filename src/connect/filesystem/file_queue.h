// FileQueue: the files of one split in the order in which they are to be read, found by listing the folder
// now and then; the files that came too late to be read in order; and those that changed after they were
// read. A look is not atomic: it may find a name and miss one that got there before. So names at the end of
// the order that are as young as the look wait for the next one; in a store, whose times say less, all new
// ones do. Whether a change counts as one of a file or
// as a late file hangs on FilePosition's memory alone, so that it is the same whether the query ran through
// or was started again.
//
// One thread (the reader's).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/env.h"
#include "connect/filesystem/file_listing.h"
#include "connect/filesystem/file_position.h"
#include "connect/filesystem/path_pattern.h"

namespace caudal {

// When a folder was listed, for the position of what was found there.
struct Listing {
  int64_t micros = 0;
  std::vector<std::string> recent;
  NameDigest passed;  // names that were behind then
  int64_t look = 0;   // counts the reader's looks
};

class FileQueue {
 public:
  // Goes on at `position`, whose root and splits say what to list. `split`: which share of the names.
  // `counts_bytes`: so does the position's offset. `watched`: there will be another look. `pattern`: which
  // files count.
  FileQueue(FileSystem* files, Env* env, int split, bool counts_bytes, bool watched, FilePosition position,
            PathPattern pattern = {});

  // Lists the folder. External error if that fails; Data error if the file of the position is gone with all
  // others.
  Status List();
  // The next file to read. Nothing: none is known; List again, soon if some are held back.
  std::optional<ListedFile> Next();
  // Files that got a name before one that is read already; each once.
  std::vector<ListedFile> TakeLate();
  // Files that are no longer what was read under their name; each change once.
  struct Changed {
    ListedFile now;
    FileVersion read;
    int64_t records = 1;  // that are not read
  };
  std::vector<Changed> TakeChanged();
  // The file of the position, if it is no longer what an earlier run began to read: gone, shorter or another
  // one; once. Next does not give it.
  struct Interrupted {
    ListedFile file;
    Status why;
  };
  std::optional<Interrupted> TakeInterrupted();
  // What the first looks found worth telling: the folder is not there, an entry is no file; each once.
  std::vector<std::string> TakeWarnings();

  // The file is read, up to what it was when it was opened.
  void NoteRead(FileVersion version);
  // Where the file that Next gave first goes on; 0 for all others.
  int64_t StartOffset(const ListedFile& file) const;
  // The file as an earlier run opened it, whose end is the end of it here, too; null for all others.
  const FilePosition* Resumed(const ListedFile& file) const;
  const Listing& listing() const { return listing_; }
  bool holds_back() const { return !held_.empty(); }
  // Files that Next will give, now or after another look, and their bytes.
  int64_t waiting_files() const { return static_cast<int64_t>(waiting_.size() + held_.size()); }
  int64_t waiting_bytes() const { return waiting_bytes_; }

 private:
  // A name that is known, read or not.
  struct Known {
    FileVersion version;  // as it was last reported or read
    int64_t look = 0;     // the last that found it
  };

  // By its time the file was not there when the position's run last looked.
  bool AppearedSince(const ListedFile& file) const;
  // Of `behind`, the files before the position: those that the position's run did not see.
  std::unordered_set<std::string> Appeared(std::vector<const ListedFile*> behind) const;
  // Its turn is over.
  bool IsBehind(const std::string& name) const;
  // Names that are neither there any more nor to be read.
  void Forget();
  // Moves those found that need not wait from held_ to waiting_.
  void Release(int64_t looked_micros);
  Status CheckPosition(const ListedFile* found) const;
  // Passes the position's file over.
  void Interrupt(const ListedFile* found, Status why);
  void Warn(const FileListing& listing);
  // A name that is known: reports what changed about a file that is read.
  void Compare(const ListedFile& file, FileVersion* known);
  // A name that is new to this run.
  void Add(const ListedFile& file, bool behind, bool appeared);

  FileSystem* files_;
  Env* env_;
  int split_;
  bool counts_bytes_;
  bool watched_;
  FilePosition position_;  // where it all began
  PathPattern pattern_;
  std::string last_;      // name of the last file that Next gave, or that is done
  bool started_ = false;  // the folder was listed
  Listing listing_;
  int64_t looks_ = 0;
  std::unordered_map<std::string, Known> seen_;
  FilePosition memory_;                          // whose `read` goes on where the position's ends
  std::unordered_set<std::string> passed_over_;  // names that were reported as late
  std::unordered_set<std::string> warned_;       // what TakeWarnings gave
  std::vector<std::string> warnings_;
  std::vector<Changed> changed_;
  std::optional<Interrupted> interrupted_;
  std::deque<ListedFile> waiting_;  // by name
  struct Held {
    ListedFile file;
    int64_t look;  // that found it first
  };
  std::vector<Held> held_;  // by name
  std::vector<ListedFile> late_;
  int64_t waiting_bytes_ = 0;  // of waiting_ and held_: asked for with every block
};

}  // namespace caudal
