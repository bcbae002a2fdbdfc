// SimulatedWorld: what survives a crash: files, targets, chance; and the connectors that reach it.
//
//   simulated-source   the workload's splits in chunks of chance
//   simulated-ledger   a database: an epoch's rows wait in the checkpoint, one transaction with a ledger
//   entry simulated-files    files under a hidden name until Commit renames them
//
// One thread. Every decision comes from one seed.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "api/connector.h"
#include "base/fault_point.h"
#include "fs/memory_file_system.h"
#include "run/simulation/workload.h"

namespace caudal {

class SimulatedWorld {
 public:
  // `reliable`: targets always answer.
  explicit SimulatedWorld(uint64_t seed, bool reliable = false);
  ~SimulatedWorld() { Faults::Disarm(); }

  // A database table with its ledger.
  struct Table {
    Epoch ledger;
    std::vector<SimulatedRow> rows;
  };

  uint64_t Random() { return random_(); }
  // True once in `n` times.
  bool OneIn(uint64_t n) { return random_() % n == 0; }
  // Whether a target's answer gets lost now.
  bool LosesAnswer() { return !reliable_ && OneIn(40); }
  ManualEnv& env() { return env_; }
  MemoryFileSystem& files() { return files_; }
  const Workload& workload() const { return workload_; }
  std::span<const Connector* const> connectors() const { return connectors_; }
  Table& table(const std::string& name) { return tables_[name]; }
  // The rows of the visible files, sorted.
  std::vector<SimulatedRow> FileRows();

  // Faults that chance still may inject.
  void set_faults_left(int faults) { faults_left_ = faults; }
  int crashes() const { return crashes_; }
  void CountCrash() { ++crashes_; }

 private:
  static Status DecideFault(FaultPoint point, void* world);

  std::mt19937_64 random_;
  bool reliable_;
  ManualEnv env_;
  MemoryFileSystem files_;
  Workload workload_;
  std::vector<std::unique_ptr<Connector>> owned_;
  std::vector<const Connector*> connectors_;
  std::map<std::string, Table> tables_;
  int faults_left_ = 0;
  int crashes_ = 0;
};

}  // namespace caudal
