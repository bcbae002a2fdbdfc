// CollectConnector: 'connector' = 'collect', the sink of tests: exactly once into a CollectRegistry.
//
// It takes every row kind, or with a primary key I, UA and D, as Flink's upsert sinks do; 'collect.changelog'
// = 'I,UB,UA,D' states it otherwise.
#pragma once

#include "api/connector.h"
#include "connect/collect/collected.h"

namespace caudal {

class CollectConnector : public Connector {
 public:
  // `registry` outlives the connector.
  explicit CollectConnector(CollectRegistry* registry) : registry_(registry) {}

  std::string_view name() const override { return "collect"; }
  std::span<const OptionSpec> options() const override;
  bool can_write() const override { return true; }
  Result<ChangelogKinds> sink_changelog(const Table& table) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;

 private:
  CollectRegistry* registry_;
};

}  // namespace caudal
