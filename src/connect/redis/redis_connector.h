// RedisConnector: tables whose rows are keys of a Redis server; written, and looked up in by key.
//
// A constant; what it makes belongs to the caller.
#pragma once

#include "api/connector.h"

namespace caudal {

class RedisConnector : public Connector {
 public:
  std::string_view name() const override { return "redis"; }
  std::span<const OptionSpec> options() const override;
  bool can_write() const override { return true; }
  bool can_look_up() const override { return true; }
  std::vector<int> lookup_key(const Table& table) const override { return table.primary_key; }
  Status CheckOptions(const Table& table) const override;
  Result<ChangelogKinds> sink_changelog(const Table& table) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
  Result<std::unique_ptr<LookupReader>> MakeLookup(const Table& table, const LookupRequest& request,
                                                   const ConnectorContext& context) const override;
};

}  // namespace caudal
