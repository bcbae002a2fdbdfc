// BlackholeConnector: 'connector' = 'blackhole', as in Flink: takes every row and keeps none.
#pragma once

#include "api/connector.h"

namespace caudal {

class BlackholeConnector : public Connector {
 public:
  std::string_view name() const override { return "blackhole"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_write() const override { return true; }
  Result<ChangelogKinds> sink_changelog(const Table&) const override { return ChangelogKinds::All(); }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
};

}  // namespace caudal
