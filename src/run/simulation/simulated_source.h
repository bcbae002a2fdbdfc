// SimulatedSourceConnector: the workload's splits, polled in chunks of chance, bounded.
#pragma once

#include "api/connector.h"

namespace caudal {

class SimulatedWorld;

class SimulatedSourceConnector : public Connector {
 public:
  explicit SimulatedSourceConnector(SimulatedWorld* world) : world_(world) {}
  std::string_view name() const override { return "simulated-source"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_read() const override { return true; }
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;

 private:
  SimulatedWorld* world_;
};

}  // namespace caudal
