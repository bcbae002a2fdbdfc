#include "connect/iceberg/scan/iceberg_source.h"

#include <fmt/format.h>

#include <charconv>

#include "connect/iceberg/scan/lineage_columns.h"
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
    if (batch->grows && batch->rows->chunk.empty()) return Poll(NothingYet{});
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

Result<std::vector<Split>> FindSplits(const ScanRequest& request, const SnapshotChoice& choice,
                                      const StreamOptions& stream, int splits,
                                      std::optional<MetadataKind> metadata) {
  const IcebergOptions& options = request.options;
  ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(options, request.files));
  if (!there) {
    return Status::User(fmt::format("there is no catalog in '{}'", options.catalog_file))
        .Hint("correct 'uri' or 'warehouse'");
  }
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(options, request.files, request.env));
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(options.name));
  ASSIGN_OR_RETURN(const ChosenSnapshot chosen, ChosenSnapshot::Of(choice, table.metadata));
  if (metadata) {
    RETURN_IF_ERROR(CheckScanColumns(request.declared, MetadataSchema(*metadata)));
  } else {
    RETURN_IF_ERROR(CheckColumnsOf(request, table.metadata, *table.metadata.FindSchema(chosen.schema_id)));
  }
  RETURN_IF_ERROR(CheckLineage(request.columns, table.metadata.format_version));
  ScanShare share{table.metadata.table_uuid, chosen, 0, splits, ScanShare::Mode::kOnce};
  if (stream.streaming) {
    ASSIGN_OR_RETURN(share, stream.StartIn(table.metadata, chosen));
  }
  std::vector<Split> found;
  for (int i = 0; i < splits; ++i) {
    share.share = i;
    share.shares = splits;
    found.push_back({share.ToText(), i});
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<Source>> IcebergSource::Make(const Table& table, const ReadRequest& request,
                                                    const ConnectorContext& context) {
  std::unique_ptr<IcebergSource> source(new IcebergSource());
  ScanRequest& scan = source->scan_;
  scan.declared = table;
  scan.filters = request.filters;
  ASSIGN_OR_RETURN(scan.options, IcebergOptions::From(table));
  ASSIGN_OR_RETURN(source->choice_, SnapshotChoice::From(table));
  ASSIGN_OR_RETURN(source->stream_, StreamOptions::From(table));
  source->metadata_ = TakeMetadataKind(&scan.options.name.name);
  if (source->metadata_ && source->stream_.streaming) {
    return Status::User(fmt::format("table '{}': a metadata table is read once", table.name))
        .Hint("leave 'streaming' out");
  }
  scan.columns = ScanColumnsOf(table, request);
  const std::string_view splits = table.option("caudal.source.splits", "1");
  const auto [end, error] = std::from_chars(splits.data(), splits.data() + splits.size(), source->splits_);
  if (error != std::errc() || source->splits_ < 1 || source->splits_ > kMostSplits) {
    return Status::User(fmt::format("option 'caudal.source.splits' of table '{}': '{}' is not 1 to {}",
                                    table.name, splits, kMostSplits));
  }
  ASSIGN_OR_RETURN(scan.files, scan.options.FilesOf(context.files));
  scan.env = context.env == nullptr ? Env::Real() : context.env;
  return std::unique_ptr<Source>(std::move(source));
}

std::unique_ptr<SplitEnumerator> IcebergSource::MakeEnumerator() {
  return std::make_unique<ScanEnumerator>([this]() -> Result<std::vector<Split>> {
    Result<std::vector<Split>> splits =
        FindSplits(scan_, choice_, stream_, metadata_ ? 1 : splits_, metadata_);
    if (splits.ok()) return splits;
    return std::move(splits).status().At(scan_.options.frame());
  });
}

Result<std::unique_ptr<SplitReader>> IcebergSource::Open(const Split& split, const Position& position) {
  const std::optional<ScanShare> share = ScanShare::Parse(split.id);
  if (!share) return Status::Data(fmt::format("'{}' is no split of an Iceberg table", split.id));
  if (stream_.streaming != (share->mode != ScanShare::Mode::kOnce)) {
    return Status::User(fmt::format("the checkpoint is of a read {} 'streaming'",
                                    stream_.streaming ? "without" : "with"))
        .Hint("start with another state folder, or set the option as it was");
  }
  if (stream_.changelog && share->shares > 1) {
    // Each of them would give every change.
    return Status::User(fmt::format("the checkpoint is of a read in {} splits, and changes are read in one",
                                    share->shares))
        .Hint("leave 'streaming-changelog' out, or start with another state folder");
  }
  ASSIGN_OR_RETURN(const ScanPosition from, ScanPosition::Parse(position, split.id));
  const auto open = [share = *share, from, scan = scan_, choice = choice_, stream = stream_,
                     metadata = metadata_]() -> Result<std::unique_ptr<ScanRows>> {
    if (metadata)
      return MetadataScan::Open(scan.options, scan.columns, scan.files, scan.env, share, *metadata, from);
    if (stream.streaming) return StreamScan::Open(scan, choice, stream, share, from);
    return IcebergScan::Open(scan, share, from);
  };
  return std::unique_ptr<SplitReader>(std::make_unique<ScanReader>(open, split.id, from));
}

}  // namespace caudal
