// Source: where rows come from: an enumerator that finds splits and readers that each poll one.
//
// The runtime owns all objects. The enumerator is called by the coordinator's thread; a reader by its task's
// thread, or while it waits by none. A reader never blocks in Poll: its I/O has threads of its own. It knows
// nothing of event time, NOT NULL or computed columns: the source task does all that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/client_facts.h"
#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"

namespace caudal {

// A part of a source that is read in order by one reader: a partition, a file, a share of a folder.
struct Split {
  std::string id;   // the same in every run
  int ordinal = 0;  // its number within the source, what $split shows; never reused
};

// Where to go on, as JSON text: names its origin, resumes exactly after the last chunk.
using Position = std::string;

// Hidden columns with SourceRows::file, ::key, ::headers and ::arrival, where the dead-letter table shows
// them.
inline constexpr std::string_view kFileColumn = "$file";
inline constexpr std::string_view kKeyColumn = "$key";
inline constexpr std::string_view kHeadersColumn = "$headers";
inline constexpr std::string_view kArrivalColumn = "$arrival";

inline Type HeadersType() { return Type::Map(Type::String().WithNullable(false), Type::Bytes()); }

// Name and value, NULL or not, in the order of the record; a name may be there twice.
using RecordHeaders = std::vector<std::pair<std::string, std::optional<std::string>>>;

// A record that could not be decoded, or several that are passed over unread.
struct RejectedRecord {
  int64_t offset = 0;
  std::string raw;
  std::string error_class;  // "malformed"
  std::string message;
  std::string file = {};  // that `offset` counts in; empty: the split as a whole
  int64_t records = 1;    // that it stands for; each has the fate
  std::string hint = {};  // what would let it be read; empty: nothing is known
  bool no_value = false;  // `raw` is NULL, not empty
  // Where the reader was asked for the envelope.
  std::optional<std::string> key = {};
  RecordHeaders headers = {};
  int64_t arrival_millis = -1;  // -1: not known
};

// What one poll read, all from the reader's split.
struct SourceRows {
  Chunk chunk;                           // the schema the reader was opened with
  std::vector<RejectedRecord> rejected;  // records that are not in the chunk
  ColumnPtr arrival;                  // BIGINT ms a row: when the record reached the source; null = unknown
  int64_t bytes = 0;                  // read from outside
  int64_t ignored_values = 0;         // that could not be read and, as an option says, became NULL
  std::string file = {};              // that all rows are of, and offsets count in; empty: no source of files
  std::vector<int64_t> offsets = {};  // of the rows, for errors; empty: unknown
  // The records' keys, BYTES, and headers, MAP<STRING, BYTES>, if ReadRequest::envelope asks and there are
  // such.
  ColumnPtr key = nullptr, headers = nullptr;
  std::vector<std::string> warnings = {};  // for people, each once: what is odd but stops nothing
};
struct NothingYet {};
struct Finished {};  // the split has ended for good
struct NewSchema {
  Schema schema;  // what follows has another schema: end the epoch with Barrier{stop}, bind again
};
using Poll = std::variant<SourceRows, NothingYet, Finished, NewSchema>;

// How far behind a reader is, as well as it knows; -1 = unknown.
struct Backlog {
  int64_t rows = -1;
  int64_t bytes = -1;
  int64_t files = -1;
  int64_t millis = -1;
  bool settled = true;  // false: more may wait than is said, it has not been heard yet what there is
};

// Records that are gone before they were read, and that the table lets reading pass over.
struct LostRange {
  int64_t from = 0;  // the first of them, as positions count
  int64_t to = -1;   // the first after them; -1 = not known
  std::string reason;
  int64_t found_millis = 0;  // wall clock
};

class SplitReader {
 public:
  virtual ~SplitReader() = default;
  // At most Chunk::kMaxRows rows. The Status of a failure that no retry mends; rows before it were returned.
  virtual Result<Poll> Next() = 0;
  // After the last chunk that Next returned.
  virtual Position position() const = 0;
  // Records from where it was opened to position(), as the position counts them (offsets, less the gaps that
  // the source knows of) and never as the rows that Next gave; -1 = its positions count none.
  virtual int64_t records_passed() const { return -1; }
  virtual Backlog backlog() const { return {}; }
  // Steady time until which nothing is known to have waited: silence for longer tells nothing, such as that
  // of a broker that does not answer. For a reader whose last Next gave nothing.
  virtual int64_t nothing_waits_nanos() const { return INT64_MAX; }
  // Places that positions count and where no record is (compacted, of a transaction), passed since it was
  // opened.
  virtual int64_t gaps() const { return 0; }
  // Since the query began, oldest first: position() carries them.
  virtual std::vector<LostRange> losses() const { return {}; }
};

class SplitEnumerator {
 public:
  virtual ~SplitEnumerator() = default;
  // Splits not returned before. Called again at the source's discovery interval.
  virtual Result<std::vector<Split>> Discover() = 0;
  // No further split will ever come.
  virtual bool complete() const = 0;
  virtual void OnFinished(const Split& split) {}
  virtual std::string Snapshot() const = 0;
  virtual Status Restore(std::string_view snapshot) = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual bool bounded() const = 0;
  virtual std::unique_ptr<SplitEnumerator> MakeEnumerator() = 0;
  // `position`: empty = from the split's start. Refuses (User) a position of another origin.
  virtual Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) = 0;
  // An epoch with these positions is committed: group offsets, replication slots. Never blocks.
  virtual void Committed(const std::vector<std::pair<Split, Position>>& positions) {}
  // Any thread, at any time; the same names every time.
  virtual ClientFacts client() const { return {}; }
};

}  // namespace caudal
