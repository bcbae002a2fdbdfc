#include "run/simulation/simulated_world.h"

#include <algorithm>

#include "run/simulation/simulated_sink.h"
#include "run/simulation/simulated_source.h"

namespace caudal {

SimulatedWorld::SimulatedWorld(uint64_t seed, bool reliable)
    : random_(seed), reliable_(reliable), env_(1'800'000'000'000'000), files_(&env_), workload_(seed) {
  owned_.push_back(std::make_unique<SimulatedSourceConnector>(this));
  owned_.push_back(std::make_unique<SimulatedLedgerConnector>(this));
  owned_.push_back(std::make_unique<SimulatedFilesConnector>(this));
  for (const std::unique_ptr<Connector>& connector : owned_) connectors_.push_back(connector.get());
  Faults::Decide(DecideFault, this);
}

Status SimulatedWorld::DecideFault(FaultPoint point, void* context) {
  SimulatedWorld& world = *static_cast<SimulatedWorld*>(context);
  if (world.faults_left_ <= 0 || !world.OneIn(60)) return Status();
  --world.faults_left_;
  if (world.OneIn(2)) return Faults::InjectedCrash();
  return Status::External("injected fault at " + std::string(Faults::Name(point)), Retry::kBackoff);
}

std::vector<SimulatedRow> SimulatedWorld::FileRows() {
  std::vector<SimulatedRow> rows;
  for (const std::string& path : files_.Paths()) {
    if (path.starts_with(kSimulatedFolder + "/part-")) AppendRows(*files_.ReadAll(path), &rows);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace caudal
