#include "connect/iceberg/sink/iceberg_sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/iceberg/iceberg_columns.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/metadata_table.h"
#include "connect/iceberg/sink/iceberg_committer.h"
#include "connect/iceberg/sink/iceberg_sink_writer.h"
#include "connect/iceberg/sink/schema_fit.h"
#include "connect/iceberg/upsert/upsert_writer.h"

namespace caudal {
namespace {

// The table, made if the catalog has none.
Result<iceberg::LoadedTable> LoadOrCreate(IcebergLake* lake, const Table& declared,
                                          const IcebergOptions& options) {
  iceberg::Catalog& catalog = lake->catalog();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, catalog.ListTables(options.name.space));
  for (const std::string& name : names) {
    if (name == options.name.name) return catalog.LoadTable(options.name);
  }
  ASSIGN_OR_RETURN(const iceberg::NewTable made, NewIcebergTable(declared, options));
  RETURN_IF_ERROR(catalog.CreateNamespace(options.name.space));
  Result<iceberg::LoadedTable> created = catalog.CreateTable(options.name, made);
  if (created.ok() || created.status().domain() != Domain::kUser) return created;
  // Somebody else was quicker.
  Result<iceberg::LoadedTable> theirs = catalog.LoadTable(options.name);
  return theirs.ok() ? theirs : created;
}

// What is wrong, with the statement that would mend it, if one would.
Status WithWayOut(Status status, const Table& declared, const IcebergOptions& options,
                  const iceberg::TableMetadata& table) {
  if (status.ok() || status.domain() != Domain::kUser) return status;
  const Result<std::vector<TableChange>> changes = ChangesToFit(declared, table);
  if (!changes.ok() || changes->empty()) return status;
  return Status::User(status.message())
      .Hint(fmt::format("'caudal.schema-evolution' = 'evolve' lets the query do this when it starts: {}",
                        AlterText(options, *changes)));
}

}  // namespace

Result<std::unique_ptr<Sink>> IcebergSink::Make(const Table& table, const ConnectorContext& context) {
  ASSIGN_OR_RETURN(IcebergOptions options, IcebergOptions::From(table));
  if (std::string name = options.name.name; TakeMetadataKind(&name)) {
    return Status::User(
        fmt::format("'{}' is a metadata table, which cannot be written", options.name.ToString()));
  }
  for (const char* option : {"snapshot-id", "as-of-timestamp", "tag"}) {
    if (table.option(option).empty()) continue;
    return Status::User(
               fmt::format("table '{}': '{}' names a snapshot, which is not written", table.name, option))
        .Hint(
            "say it where the table is read, behind its name: /*+ OPTIONS(…) */; what is written is a "
            "'branch'");
  }
  ASSIGN_OR_RETURN(const Schema stored, StoredColumns(table));
  return std::unique_ptr<Sink>(new IcebergSink(table, std::move(options), context));
}

Status IcebergSink::CheckTarget() const {
  Env* env = context_.env == nullptr ? Env::Real() : context_.env;
  const auto check = [&]() -> Status {
    ASSIGN_OR_RETURN(FileSystem* const files, options_.FilesOf(context_.files));
    ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(options_, files));
    if (there) {
      ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(options_, files, env));
      ASSIGN_OR_RETURN(const std::vector<std::string> names, lake->catalog().ListTables(options_.name.space));
      if (std::find(names.begin(), names.end(), options_.name.name) != names.end()) {
        ASSIGN_OR_RETURN(iceberg::LoadedTable table, lake->catalog().LoadTable(options_.name));
        if (options_.evolution == IcebergEvolution::kEvolve) {
          ASSIGN_OR_RETURN(table.metadata, EvolvedTable(table_, table.metadata, env->NowMillis()));
        }
        std::vector<ColumnFit> fits;
        return PlanFor(table.metadata, &fits).status();
      }
    }
    return NewIcebergTable(table_, options_).status();
  };
  Status status = check();
  if (status.ok() || status.domain() == Domain::kExternal) return Status();
  return std::move(status).At(options_.frame());
}

Result<IcebergSinkPlan> IcebergSink::PlanFor(const iceberg::TableMetadata& table,
                                             std::vector<ColumnFit>* fits) const {
  if (options_.evolution == IcebergEvolution::kDeadLetter) {
    RETURN_IF_ERROR(CheckKeyFits(table_, table));
    ASSIGN_OR_RETURN(FittedTable fitted, FitTo(table_, table));
    if (!fitted.is_as_it_is()) *fits = std::move(fitted.fits);
    return IcebergSinkPlan::Make(fits->empty() ? table_ : fitted.table, options_, table, context_);
  }
  Result<IcebergSinkPlan> plan = IcebergSinkPlan::Make(table_, options_, table, context_);
  if (plan.ok()) return plan;
  return WithWayOut(std::move(plan).status(), table_, options_, table);
}

Result<IcebergSinkPlan> IcebergSink::Prepare() {
  ASSIGN_OR_RETURN(FileSystem* const files, options_.FilesOf(context_.files));
  ASSIGN_OR_RETURN(const auto lake,
                   IcebergLake::Open(options_, files, context_.env == nullptr ? Env::Real() : context_.env));
  ASSIGN_OR_RETURN(iceberg::LoadedTable table, LoadOrCreate(lake.get(), table_, options_));
  if (options_.evolution == IcebergEvolution::kEvolve) {
    ASSIGN_OR_RETURN(table, EvolveTable(lake.get(), table_, options_, std::move(table)));
  }
  return PlanFor(table.metadata, &fits_);
}

Status IcebergSink::Open() {
  if (plan_ != nullptr) return Status();
  Result<IcebergSinkPlan> plan = Prepare();
  if (!plan.ok()) return std::move(plan).status().At(options_.frame());
  auto made = std::make_unique<const IcebergSinkPlan>(std::move(plan).value());
  if (!made->key.empty()) {
    ASSIGN_OR_RETURN(keys_, TableKeys::Open(made.get()));
  }
  plan_ = std::move(made);
  return Status();
}

Result<std::unique_ptr<SinkWriter>> IcebergSink::MakeWriter(int task) {
  RETURN_IF_ERROR(Open());
  if (plan_->options.unique != IcebergUnique::kUpsert) {
    Status read = keys_->AdvanceToHead();
    if (!read.ok()) return std::move(read).At(options_.frame());
  }
  std::unique_ptr<SinkWriter> writer;
  if (keys_ != nullptr) {
    writer = std::make_unique<UpsertWriter>(plan_.get(), keys_.get(), task);
  } else {
    writer = std::make_unique<IcebergSinkWriter>(plan_.get(), task);
  }
  if (fits_.empty()) return writer;
  return std::unique_ptr<SinkWriter>(std::make_unique<FittingWriter>(fits_, std::move(writer)));
}

Result<std::unique_ptr<SinkCommitter>> IcebergSink::MakeCommitter() {
  RETURN_IF_ERROR(Open());
  return std::unique_ptr<SinkCommitter>(new IcebergCommitter(plan_.get(), keys_.get()));
}

}  // namespace caudal
