#include "connect/filesystem/sink/file_sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/filesystem/partition_path.h"
#include "connect/filesystem/sink/file_committer.h"
#include "connect/filesystem/sink/file_sink_writer.h"
#include "fs/file_path.h"
#include "fs/store_file_system.h"

namespace caudal {
namespace {

// FNV-1a, the same for ever.
std::string NumberOf(const ConnectorContext& context) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const std::string* text : {&context.identity, &context.query, &context.sink}) {
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    hash *= 0x100000001B3;  // the text's end
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

Result<std::unique_ptr<Sink>> FileSink::Make(const Table& table, const ConnectorContext& context) {
  FileSinkPlan plan;
  ASSIGN_OR_RETURN(plan.format.options, FileTableOptions::From(table));
  if (!table.primary_key.empty()) {
    return Status::User(fmt::format("table '{}': files have no primary key", table.name))
        .Hint("leave PRIMARY KEY out, or write to a database");
  }
  int position = 0;  // in the chunks: the columns that are stored
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.kind == TableColumn::Kind::kComputed || column.is_virtual) continue;
    if (column.kind == TableColumn::Kind::kMetadata) {
      return Status::User(fmt::format("table '{}': metadata column '{}' cannot be written to files",
                                      table.name, column.name))
          .Hint("declare it VIRTUAL");
    }
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), static_cast<int>(i)) == keys.end()) {
      plan.content_columns.push_back(position);
      plan.format.content.fields.push_back({column.name, column.type});
    }
    ++position;
  }
  // Folders in the order of PARTITIONED BY.
  for (const int key : table.partition_keys) {
    const TableColumn& column = table.columns[static_cast<size_t>(key)];
    if (!CanPartitionBy(column.type)) {
      return Status::User(fmt::format("table '{}' cannot be PARTITIONED BY '{}' of type {}", table.name,
                                      column.name, column.type.ToString()));
    }
    int stored = 0;
    for (int i = 0; i < key; ++i) {
      const TableColumn& before = table.columns[static_cast<size_t>(i)];
      if (before.kind == TableColumn::Kind::kPhysical) ++stored;
    }
    plan.partition_columns.push_back(stored);
    plan.partition_names.push_back(column.name);
  }
  if (plan.content_columns.empty()) {
    return Status::User(fmt::format("table '{}' has no column besides those of PARTITIONED BY", table.name));
  }
  FileSystem* const files = context.files == nullptr ? FileSystem::Local() : context.files;
  ASSIGN_OR_RETURN(plan.format.files, FilesWithOptions(files, table.options));
  plan.format.table_options = table.options;
  plan.env = context.env == nullptr ? Env::Real() : context.env;
  plan.root = AbsolutePath(plan.format.options.path);
  plan.pending = PendingFilesAt(plan.format.files, plan.root);
  plan.format.pending = plan.pending;
  plan.sink = NumberOf(context);
  plan.generation = context.generation;
  plan.ephemeral = context.ephemeral;
  // Finds wrong options and types before anything runs.
  RETURN_IF_ERROR(OutputFile::Make(plan.format, plan.root + "/.caudal-check").status());
  return std::unique_ptr<Sink>(new FileSink(std::move(plan)));
}

Result<std::unique_ptr<SinkWriter>> FileSink::MakeWriter(int task) {
  return std::unique_ptr<SinkWriter>(new FileSinkWriter(&plan_, task));
}

Result<std::unique_ptr<SinkCommitter>> FileSink::MakeCommitter() {
  // A folder that can never be is told before any row is read; what may pass, a full disk, is waited for.
  const Status made = plan_.format.files->MakeDirectories(plan_.root);
  if (!made.ok() &&
      !(made.domain() == Domain::kExternal && made.retry() == Retry::kBackoff && !plan_.ephemeral)) {
    return made;
  }
  return std::unique_ptr<SinkCommitter>(new FileCommitter(&plan_));
}

}  // namespace caudal
