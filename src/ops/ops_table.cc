#include "ops/ops_table.h"

#include <fmt/format.h>

#include "base/check.h"
#include "db/sqlite.h"

namespace caudal {
namespace {

using enum OpsColumn::Kind;

// The SLO document's six columns first, then whose path it is and what else an operator asks about a batch.
std::vector<OpsColumn> Fates() {
  return {{"query_id", kText}, {"sink", kText},    {"operator", kText},   {"fate", kText},
          {"name", kText},     {"rows", kInteger}, {"observed_at", kTime}};
}

std::vector<OpsColumn> StreamingProgress() {
  return {{"query_id", kText},
          {"batch_id", kInteger},
          {"observed_at", kTime},
          {"input_rps", kReal},
          {"processed_rps", kReal},
          {"progress_json", kText},
          {"sink", kText},
          {"run_id", kText},
          {"attempt", kInteger},
          {"pipeline", kText},
          {"query_name", kText},
          {"pipeline_version", kText},
          {"kind", kText},
          {"batch_ms", kInteger},
          {"trigger_ms", kInteger},
          {"freshness_p50_ms", kInteger},
          {"freshness_p95_ms", kInteger},
          {"rows_read", kInteger},
          {"rows_published", kInteger},
          {"rows_filtered", kInteger},
          {"rows_dlq", kInteger},
          {"rows_duplicate", kInteger},
          {"rows_late", kInteger},
          {"rows_absorbed", kInteger},
          {"rows_unaccounted", kInteger},
          {"bytes_in", kInteger},
          {"backlog_rows", kInteger},
          {"backlog_files", kInteger},
          {"backlog_seconds", kReal},
          {"source_offsets", kText},
          {"watermark", kTime},
          {"state_rows", kInteger},
          {"state_mem_bytes", kInteger},
          {"checkpoint_ms", kInteger},
          {"checkpoint_ok", kBoolean},
          {"committed_at", kTime},
          {"busy", kReal},
          {"backpressured", kReal},
          {"idle", kReal},
          {"error_class", kText},
          {"error_text", kText}};
}

// Of sources: what waits, and what will never come.
std::vector<OpsColumn> Splits() {
  return {{"query_id", kText},
          {"operator", kText},
          {"split", kText},
          {"lag_rows", kInteger},
          {"lag_seconds", kReal},
          {"durable_lag_rows", kInteger},
          {"durable_lag_seconds", kReal},
          {"gaps", kInteger},
          {"watermark", kTime},
          {"idle", kBoolean},
          {"holds", kBoolean},
          {"observed_at", kTime}};
}

std::vector<OpsColumn> Commits() {
  return {
      {"query_id", kText},      {"sink", kText},     {"table_name", kText},     {"branch", kText},
      {"generation", kInteger}, {"epoch", kInteger}, {"snapshot_id", kInteger}, {"sequence_number", kInteger},
      {"published_at", kTime},  {"exact", kBoolean}, {"commit_ms", kInteger}};
}

std::vector<OpsColumn> Losses() {
  return {{"query_id", kText},     {"operator", kText},   {"split", kText},  {"first_lost", kInteger},
          {"last_lost", kInteger}, {"records", kInteger}, {"reason", kText}, {"found_at", kTime}};
}

}  // namespace

std::span<const OpsTable> OpsTables() {
  static const std::vector<OpsTable> tables = {
      {"streaming_progress", StreamingProgress(), {0, 7, 1, 8, 6}},
      {"queries",
       {{"query_id", kText},
        {"pipeline", kText},
        {"query_name", kText},
        {"owner", kText},
        {"pipeline_version", kText},
        {"run_id", kText},
        {"state", kText},
        {"started_at", kTime},
        {"observed_at", kTime},
        {"epoch", kInteger},
        {"epochs_committed", kInteger},
        {"epochs_abandoned", kInteger},
        {"memory_bytes", kInteger},
        {"memory_limit", kInteger},
        {"longest_step_us", kInteger},
        {"rows_read", kInteger},
        {"rows_per_s", kReal},
        {"watermark", kTime},
        {"backlog_rows", kInteger},
        {"backlog_files", kInteger},
        {"error_text", kText}},
       {0}},
      {"epochs",
       {{"query_id", kText},
        {"generation", kInteger},
        {"epoch", kInteger},
        {"committed_at", kTime},
        {"duration_ms", kInteger},
        {"rows", kInteger},
        {"freshness_p50_ms", kInteger},
        {"freshness_p95_ms", kInteger},
        {"freshness_max_ms", kInteger}},
       {0, 1, 2}},
      {"commits", Commits(), {2, 6}},
      {"fates", Fates(), {0, 1, 2, 3, 4}},
      {"change_fates", Fates(), {0, 1, 2, 3, 4}},
      {"operators",
       {{"query_id", kText},
        {"operator", kText},
        {"label", kText},
        {"tasks", kInteger},
        {"rows_in", kInteger},
        {"rows_out", kInteger},
        {"busy", kReal},
        {"backpressured", kReal},
        {"idle", kReal},
        {"cpu_us", kInteger},
        {"longest_step_us", kInteger},
        {"longest_step_cpu_us", kInteger},
        {"state_rows", kInteger},
        {"state_bytes", kInteger},
        {"watermark", kTime},
        {"observed_at", kTime}},
       {0, 1}},
      {"splits", Splits(), {0, 1, 2}},
      {"losses", Losses(), {0, 1, 2, 3, 7}},
      {"clients",
       {{"query_id", kText}, {"operator", kText}, {"name", kText}, {"value", kText}, {"observed_at", kTime}},
       {0, 1, 2}},
      {"warnings",
       {{"query_id", kText}, {"run_id", kText}, {"operator", kText}, {"text", kText}, {"observed_at", kTime}},
       {0, 1, 2, 3}},
  };
  return tables;
}

const OpsTable& FindOpsTable(std::string_view name) {
  for (const OpsTable& table : OpsTables()) {
    if (table.name == name) return table;
  }
  CHECK(false && "no such table");
  return OpsTables()[0];
}

std::string OpsTable::CreateStatement() const {
  std::string sql = fmt::format("CREATE TABLE IF NOT EXISTS {} (", QuoteSqliteName(name));
  for (const OpsColumn& column : columns) {
    const char* type = column.kind == kReal                                 ? "REAL"
                       : column.kind == kInteger || column.kind == kBoolean ? "INTEGER"
                                                                            : "TEXT";
    sql += fmt::format("{}{} {}", &column == columns.data() ? "" : ", ", QuoteSqliteName(column.name), type);
  }
  std::string names;
  for (const int i : key)
    names += (names.empty() ? "" : ", ") + QuoteSqliteName(columns[static_cast<size_t>(i)].name);
  return sql + (names.empty() ? ")" : ", PRIMARY KEY (" + names + "))");
}

std::string OpsTable::InsertStatement(bool only_new) const {
  std::string marks;
  for (size_t i = 0; i < columns.size(); ++i) marks += i == 0 ? "?" : ", ?";
  return fmt::format("INSERT OR {} INTO {} VALUES ({})", only_new ? "IGNORE" : "REPLACE",
                     QuoteSqliteName(name), marks);
}

Table OpsTable::AsTable(const std::string& database_path) const {
  Table table;
  table.name = fmt::format("ops.{}", name);
  table.options = {
      {"connector", "jdbc"}, {"url", "jdbc:sqlite:" + database_path}, {"table-name", std::string(name)}};
  for (const OpsColumn& column : columns) {
    const Type type = column.kind == kText      ? Type::String()
                      : column.kind == kInteger ? Type(TypeId::kBigInt)
                      : column.kind == kReal    ? Type(TypeId::kDouble)
                      : column.kind == kTime    ? Type::Timestamp(3)
                                                : Type(TypeId::kBoolean);
    table.columns.push_back({.name = std::string(column.name), .type = type});
  }
  return table;
}

}  // namespace caudal
