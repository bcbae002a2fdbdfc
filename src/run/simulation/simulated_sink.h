// Two sinks of the simulation, with the two ways in which real ones are exactly once: a ledger in the
// target's transaction, and names that appear by rename.
#pragma once

#include <string>
#include <vector>

#include "api/connector.h"
#include "run/simulation/workload.h"

namespace caudal {

class SimulatedWorld;

inline const std::string kSimulatedFolder = "out";

// Rows of numbers as the bytes of a file, and back.
std::string RowBytes(const std::vector<SimulatedRow>& rows);
void AppendRows(std::string_view bytes, std::vector<SimulatedRow>* rows);

class SimulatedLedgerConnector : public Connector {
 public:
  explicit SimulatedLedgerConnector(SimulatedWorld* world) : world_(world) {}
  std::string_view name() const override { return "simulated-ledger"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_write() const override { return true; }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;

 private:
  SimulatedWorld* world_;
};

class SimulatedFilesConnector : public Connector {
 public:
  explicit SimulatedFilesConnector(SimulatedWorld* world) : world_(world) {}
  std::string_view name() const override { return "simulated-files"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_write() const override { return true; }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;

 private:
  SimulatedWorld* world_;
};

}  // namespace caudal
