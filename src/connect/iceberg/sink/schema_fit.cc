#include "connect/iceberg/sink/schema_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/iceberg/catalog/schema_change.h"
#include "connect/iceberg/iceberg_columns.h"
#include "connect/iceberg/iceberg_types.h"
#include "iceberg/catalog/table_update.h"

namespace caudal {
namespace {

constexpr int kEvolveAttempts = 10;

std::string ColumnText(const TableColumn& column) {
  return fmt::format("`{}` {}", column.name, column.type.ToString());
}

// The change that lets values of the column in; nothing: they fit, or nothing would.
Result<std::optional<TableChange>> ChangeFor(const TableColumn& column, const iceberg::TableMetadata& table) {
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  const auto found = std::ranges::find(schema.fields, column.name, &iceberg::Field::name);
  if (found == schema.fields.end()) {
    AddColumn add{column, {}};
    add.column.type = column.type.WithNullable(true);  // rows that are there have no value
    return std::optional<TableChange>(std::move(add));
  }
  ASSIGN_OR_RETURN(const iceberg::Type type, IcebergTypeOf({column.name, column.type}, table.format_version));
  const bool wider = type != found->type && CanWiden(found->type, type);
  const bool nullable = found->required && column.type.nullable();
  if (!wider && !(nullable && type == found->type)) return std::optional<TableChange>();
  ModifyColumn modify{column, {}, false};
  modify.column.type = column.type.WithNullable(!found->required || column.type.nullable());
  return std::optional<TableChange>(std::move(modify));
}

}  // namespace

Result<std::vector<TableChange>> ChangesToFit(const Table& declared, const iceberg::TableMetadata& table) {
  std::vector<TableChange> changes;
  for (const TableColumn& column : declared.columns) {
    if (column.kind != TableColumn::Kind::kPhysical) continue;
    ASSIGN_OR_RETURN(std::optional<TableChange> change, ChangeFor(column, table));
    if (change) changes.push_back(*std::move(change));
  }
  return changes;
}

std::string AlterText(const IcebergOptions& options, const std::vector<TableChange>& changes) {
  std::string added, modified;
  for (const TableChange& change : changes) {
    if (const auto* add = std::get_if<AddColumn>(&change))
      added += (added.empty() ? "" : ", ") + ColumnText(add->column);
    if (const auto* modify = std::get_if<ModifyColumn>(&change))
      modified += (modified.empty() ? "" : ", ") + ColumnText(modify->column);
  }
  const std::string table =
      ObjectPath{options.catalog_name, fmt::format("{}", fmt::join(options.name.space, ".")),
                 options.name.name}
          .ToString();
  std::string text;
  if (!added.empty()) text += fmt::format("ALTER TABLE {} ADD ({})", table, added);
  if (!modified.empty()) {
    text += fmt::format("{}ALTER TABLE {} MODIFY ({})", text.empty() ? "" : "; ", table, modified);
  }
  return text;
}

Status CheckKeyFits(const Table& declared, const iceberg::TableMetadata& table) {
  for (const int key : declared.primary_key) {
    const TableColumn& column = declared.columns[static_cast<size_t>(key)];
    ASSIGN_OR_RETURN(const std::optional<TableChange> change, ChangeFor(column, table));
    if (!change) continue;
    return Status::User(
               fmt::format("column '{}' of the PRIMARY KEY is declared as {}, which the table has not",
                           column.name, column.type.ToString()))
        .Hint(
            "a key is not changed on the way: stop the query with a savepoint, ALTER TABLE … MODIFY the "
            "column, "
            "and start it again");
  }
  return Status();
}

Result<iceberg::TableMetadata> EvolvedTable(const Table& declared, const iceberg::TableMetadata& table,
                                            int64_t now_millis) {
  RETURN_IF_ERROR(CheckKeyFits(declared, table));
  ASSIGN_OR_RETURN(const std::vector<TableChange> changes, ChangesToFit(declared, table));
  if (changes.empty()) return table;
  ASSIGN_OR_RETURN(const iceberg::TableCommit commit, CommitOf(changes, table));
  return iceberg::ApplyUpdates(table, commit.updates, now_millis);
}

Result<iceberg::LoadedTable> EvolveTable(IcebergLake* lake, const Table& declared,
                                         const IcebergOptions& options, iceberg::LoadedTable table) {
  for (int attempt = 1;; ++attempt) {
    RETURN_IF_ERROR(CheckKeyFits(declared, table.metadata));
    ASSIGN_OR_RETURN(const std::vector<TableChange> changes, ChangesToFit(declared, table.metadata));
    if (changes.empty()) return table;
    ASSIGN_OR_RETURN(const iceberg::TableCommit commit, CommitOf(changes, table.metadata));
    iceberg::CommitAnswer answer = lake->catalog().Commit(options.name, commit);
    if (answer.outcome == iceberg::CommitOutcome::kDone) return std::move(answer.table);
    const bool again =
        answer.outcome == iceberg::CommitOutcome::kUnknown || answer.status.retry() == Retry::kBackoff;
    if (!again || attempt == kEvolveAttempts) return answer.status;
    // What a lost answer has done is there now, and then nothing is lacking.
    ASSIGN_OR_RETURN(table, lake->catalog().LoadTable(options.name));
  }
}

}  // namespace caudal
