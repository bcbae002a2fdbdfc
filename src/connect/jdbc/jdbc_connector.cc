#include "connect/jdbc/jdbc_connector.h"

#include "api/lookup_options.h"
#include "connect/jdbc/jdbc_lookup.h"
#include "connect/jdbc/jdbc_sink.h"
#include "connect/jdbc/jdbc_source.h"

namespace caudal {
namespace {

using OptionType = OptionSpec::Type;

// Flink's names. Those about connections and flushing have nothing to tune in an embedded database whose rows
// are written once an epoch; they are accepted so that a script runs unchanged.
constexpr OptionSpec kOptions[] = {
    {"url", OptionType::kString, "", "jdbc:sqlite: and the path of the database file", true},
    {"table-name", OptionType::kString, "", "the table in the database", true},
    {"caudal.create-table", OptionType::kBoolean, "false", "make the table if it is not there"},
    {"driver", OptionType::kString, "", "no effect: the driver follows from the url"},
    {"username", OptionType::kString, "", "no effect on SQLite"},
    {"password", OptionType::kString, "", "no effect on SQLite"},
    {"connection.max-retry-timeout", OptionType::kDuration, "60 s", "no effect on SQLite"},
    {"scan.fetch-size", OptionType::kInteger, "0", "no effect on SQLite"},
    {"scan.auto-commit", OptionType::kBoolean, "true", "no effect on SQLite"},
    {"sink.buffer-flush.max-rows", OptionType::kInteger, "100", "no effect: rows are written once an epoch"},
    {"sink.buffer-flush.interval", OptionType::kDuration, "1 s", "no effect: rows are written once an epoch"},
    {"scan.partition.*", OptionType::kNotBuilt, "",
     "leave it out; a table is read in one piece, in the order of its rowids or its key"},
    {"sink.parallelism", OptionType::kNotBuilt, "",
     "leave it out; the tasks of a query are 'parallelism.default'"},
    {"sink.max-retries", OptionType::kInteger, "3", "no effect: a commit is repeated until it is answered"},
};

}  // namespace

std::span<const OptionSpec> JdbcConnector::options() const {
  static const std::vector<OptionSpec> kAll = WithLookupOptions(kOptions);
  return kAll;
}

Status JdbcConnector::CheckOptions(const Table& table) const {
  if (const std::string_view retries = table.option("sink.max-retries"); retries.starts_with('-')) {
    return Status::User("'sink.max-retries' is '" + std::string(retries) + "'")
        .Hint("leave it out: a commit is repeated until it is answered");
  }
  return LookupOptions::From(table).status();
}

Result<std::unique_ptr<Source>> JdbcConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                          const ConnectorContext&) const {
  ASSIGN_OR_RETURN(JdbcTarget target, JdbcTarget::Of(table));
  std::vector<std::string> names;
  for (const int column : request.columns) names.push_back(table.columns[static_cast<size_t>(column)].name);
  return std::unique_ptr<Source>(std::make_unique<JdbcSource>(std::move(target), request, std::move(names)));
}

Result<std::unique_ptr<Sink>> JdbcConnector::MakeSink(const Table& table,
                                                      const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(JdbcTarget target, JdbcTarget::Of(table));
  return std::unique_ptr<Sink>(std::make_unique<JdbcSink>(std::move(target), context));
}

Result<std::unique_ptr<LookupReader>> JdbcConnector::MakeLookup(const Table& table,
                                                                const LookupRequest& request,
                                                                const ConnectorContext&) const {
  return JdbcLookup::Make(table, request);
}

}  // namespace caudal
