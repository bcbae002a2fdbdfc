// Connector: one kind of outside world, described as data, that makes Sources and Sinks from declared tables.
//
// Constants that live as long as the process, listed in one visible place (server/). Factories may be called
// from any thread; what they make belongs to the caller.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/changelog.h"
#include "api/external_catalog.h"
#include "api/lookup.h"
#include "api/scan_filter.h"
#include "api/sink.h"
#include "api/source.h"
#include "api/table.h"
#include "base/env.h"
#include "base/memory_budget.h"
#include "fs/file_system.h"

namespace caudal {

struct OptionSpec {
  std::string_view name;  // a trailing '*' stands for any suffix ("json.*")
  // kNotBuilt: an option that would ask for what there is not; only its default may be written.
  enum class Type : uint8_t {
    kString,
    kInteger,
    kBoolean,
    kDuration,
    kBytes,
    kNotBuilt
  } type = Type::kString;
  std::string_view default_value;  // empty = none
  std::string_view doc;
  bool required = false;
};

// What makers get. All pointers outlive what is made.
struct ConnectorContext {
  Env* env = nullptr;
  FileSystem* files = nullptr;
  MemoryBudget* budget = nullptr;
  std::string query;  // pipeline/query, for people to read
  // Of the checkpoint folder, made by chance with it (with an ephemeral job itself): together with `sink` it
  // tells what this sink leaves in its target from what any other ever left there, be its query's name the
  // same.
  std::string identity;
  std::string sink;        // the sink's id in the plan; two sinks of a plan may write to one table
  int64_t generation = 0;  // of this start: fences older writers
  // No restart repeats a commit of this job: its sinks leave rows in their targets and nothing else.
  bool ephemeral = false;
  std::string
      segment_dir;  // a folder of the checkpoint where a sink may keep the rows of epochs not yet committed
};

// What a reader must deliver: columns of Table::columns (physical and metadata), then hidden ones by name.
struct ReadRequest {
  Schema schema;
  std::vector<int> columns;         // position in Table::columns of each non-hidden field of `schema`
  bool envelope = false;            // also SourceRows::key and ::headers
  std::vector<ScanFilter> filters;  // all of which a row must fulfil to be of use; need not be looked at
};

class Connector {
 public:
  virtual ~Connector() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const OptionSpec> options() const = 0;
  // Metadata columns it can read: key → type. Empty = none.
  virtual std::vector<Field> metadata() const { return {}; }
  virtual bool can_read() const { return false; }
  virtual bool can_write() const { return false; }
  // Whether tables can be asked for the rows of a key, as lookup joins do.
  virtual bool can_look_up() const { return false; }
  // The columns that every key must have; empty: any will do.
  virtual std::vector<int> lookup_key(const Table& table) const { return {}; }
  // What the list of options cannot say of their values, such as the name of a format and its own options.
  // A User error quotes the option in '…'.
  virtual Status CheckOptions(const Table& table) const { return Status(); }
  // What the planner asks before anything runs: the row kinds that reading the table gives (from its options:
  // 'feed.changelog', a CDC format), and those that a sink made for it will accept().
  virtual Result<ChangelogKinds> source_changelog(const Table& table) const {
    return ChangelogKinds::InsertOnly();
  }
  virtual Result<ChangelogKinds> sink_changelog(const Table& table) const {
    return ChangelogKinds::InsertOnly();
  }
  // What CREATE CATALOG … WITH ('type' = name(), …) may say; empty: it has no catalogs.
  virtual std::span<const OptionSpec> catalog_options() const { return {}; }
  // Asks nobody outside yet. REQUIRES: catalog_options() is not empty.
  virtual Result<std::unique_ptr<ExternalCatalog>> MakeCatalog(const std::string& catalog,
                                                               const Options& options,
                                                               const ConnectorContext& context) const;
  virtual Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                                     const ConnectorContext& context) const;
  virtual Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const;
  virtual Result<std::unique_ptr<LookupReader>> MakeLookup(const Table& table, const LookupRequest& request,
                                                           const ConnectorContext& context) const;
};

// Checks the table's options against the connector's list: unknown names (with the nearest known one), values
// of the wrong type, missing required ones, and what CheckOptions finds. "connector" and "caudal.*" options
// of the runtime are known everywhere.
Status ValidateOptions(const Connector& connector, const Table& table);
// The same for CREATE CATALOG, whose 'type' is the connector's name.
Status ValidateCatalogOptions(const Connector& connector, const std::string& catalog, const Options& options);

// Parses "30 s", "5 min", "200ms", "1 h" to milliseconds; "128 MB", "64kb", "1g" to bytes, as Flink does.
Result<int64_t> ParseDurationMillis(std::string_view text);
Result<int64_t> ParseBytes(std::string_view text);

}  // namespace caudal
