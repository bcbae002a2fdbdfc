// JdbcConnector: tables in SQL databases, with the option names of Flink's JDBC connector; today SQLite.
//
// A constant; what it makes belongs to the caller.
#pragma once

#include "api/connector.h"

namespace caudal {

class JdbcConnector : public Connector {
 public:
  std::string_view name() const override { return "jdbc"; }
  std::span<const OptionSpec> options() const override;
  bool can_read() const override { return true; }
  bool can_write() const override { return true; }
  bool can_look_up() const override { return true; }
  Status CheckOptions(const Table& table) const override;
  Result<ChangelogKinds> sink_changelog(const Table& table) const override {
    return table.primary_key.empty() ? ChangelogKinds::InsertOnly() : ChangelogKinds::Upsert();
  }
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
  Result<std::unique_ptr<LookupReader>> MakeLookup(const Table& table, const LookupRequest& request,
                                                   const ConnectorContext& context) const override;
};

}  // namespace caudal
