#include "connect/iceberg/scan/iceberg_source.h"

#include <fmt/format.h>

#include <charconv>

#include "connect/iceberg/scan/metadata_scan.h"
#include "connect/iceberg/scan/scan_thread.h"

namespace caudal {
namespace {

constexpr int kMostSplits = 1024;

// Splits found once: when the table can be read, which is known before anything runs.
class ScanEnumerator : public SplitEnumerator {
 public:
  explicit ScanEnumerator(std::function<Result<std::vector<Split>>()> find) : find_(std::move(find)) {}
  Result<std::vector<Split>> Discover() override {
    if (found_) return std::vector<Split>();
    ASSIGN_OR_RETURN(std::vector<Split> splits, find_());
    found_ = true;
    return splits;
  }
  bool complete() const override { return found_; }
  std::string Snapshot() const override { return found_ ? "found" : ""; }
  Status Restore(std::string_view snapshot) override {
    found_ = snapshot == "found";
    return Status();
  }

 private:
  std::function<Result<std::vector<Split>>()> find_;
  bool found_ = false;
};

class ScanReader : public SplitReader {
 public:
  ScanReader(ScanThread::Open open, std::string share, const ScanPosition& from)
      : share_(std::move(share)), position_(from), thread_(std::move(open)) {}

  Result<Poll> Next() override {
    if (ended_) return Poll(Finished{});
    RETURN_IF_ERROR(failure_);
    std::optional<ScanBatch> batch = thread_.Take();
    if (!batch) return Poll(NothingYet{});
    failure_ = batch->rows.status();
    RETURN_IF_ERROR(failure_);
    position_ = batch->position;
    ended_ = batch->rows->chunk.empty();
    return ended_ ? Poll(Finished{}) : Poll(std::move(*batch->rows));
  }
  Position position() const override { return position_.ToText(share_); }

 private:
  std::string share_;
  ScanPosition position_;
  Status failure_;
  bool ended_ = false;
  ScanThread thread_;
};

Result<std::vector<Split>> FindSplits(const IcebergOptions& options, const Table& declared,
                                      const SnapshotChoice& choice, FileSystem* files, Env* env, int splits,
                                      std::optional<MetadataKind> metadata) {
  ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(options, files));
  if (!there) {
    return Status::User(fmt::format("there is no catalog in '{}'", options.catalog_file))
        .Hint("correct 'uri' or 'warehouse'");
  }
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(options, files, env));
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(options.name));
  ASSIGN_OR_RETURN(const ChosenSnapshot chosen, ChosenSnapshot::Of(choice, table.metadata));
  RETURN_IF_ERROR(CheckScanColumns(
      declared, metadata ? MetadataSchema(*metadata) : *table.metadata.FindSchema(chosen.schema_id)));
  std::vector<Split> found;
  for (int i = 0; i < splits; ++i) {
    found.push_back({ScanShare{table.metadata.table_uuid, chosen, i, splits}.ToText(), i});
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<Source>> IcebergSource::Make(const Table& table, const ReadRequest& request,
                                                    const ConnectorContext& context) {
  std::unique_ptr<IcebergSource> source(new IcebergSource());
  source->table_ = table;
  ASSIGN_OR_RETURN(source->options_, IcebergOptions::From(table));
  ASSIGN_OR_RETURN(source->choice_, SnapshotChoice::From(table));
  source->metadata_ = TakeMetadataKind(&source->options_.name.name);
  source->columns_ = ScanColumnsOf(table, request);
  const std::string_view splits = table.option("caudal.source.splits", "1");
  const auto [end, error] = std::from_chars(splits.data(), splits.data() + splits.size(), source->splits_);
  if (error != std::errc() || source->splits_ < 1 || source->splits_ > kMostSplits) {
    return Status::User(fmt::format("option 'caudal.source.splits' of table '{}': '{}' is not 1 to {}",
                                    table.name, splits, kMostSplits));
  }
  source->files_ = context.files == nullptr ? FileSystem::Local() : context.files;
  source->env_ = context.env == nullptr ? Env::Real() : context.env;
  return std::unique_ptr<Source>(std::move(source));
}

std::unique_ptr<SplitEnumerator> IcebergSource::MakeEnumerator() {
  return std::make_unique<ScanEnumerator>([this]() -> Result<std::vector<Split>> {
    Result<std::vector<Split>> splits =
        FindSplits(options_, table_, choice_, files_, env_, metadata_ ? 1 : splits_, metadata_);
    if (splits.ok()) return splits;
    return std::move(splits).status().At(options_.frame());
  });
}

Result<std::unique_ptr<SplitReader>> IcebergSource::Open(const Split& split, const Position& position) {
  const std::optional<ScanShare> share = ScanShare::Parse(split.id);
  if (!share) return Status::Data(fmt::format("'{}' is no split of an Iceberg table", split.id));
  ASSIGN_OR_RETURN(const ScanPosition from, ScanPosition::Parse(position, split.id));
  const auto open = [share = *share, from, options = options_, table = table_, columns = columns_,
                     files = files_, env = env_,
                     metadata = metadata_]() -> Result<std::unique_ptr<ScanRows>> {
    if (metadata) return MetadataScan::Open(options, columns, files, env, share, *metadata, from);
    ASSIGN_OR_RETURN(auto scan, IcebergScan::Open(options, table, columns, files, env, share, from));
    return std::unique_ptr<ScanRows>(std::move(scan));
  };
  return std::unique_ptr<SplitReader>(std::make_unique<ScanReader>(open, split.id, from));
}

}  // namespace caudal
