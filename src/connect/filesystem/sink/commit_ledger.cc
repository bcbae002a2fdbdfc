#include "connect/filesystem/sink/commit_ledger.h"

#include <nlohmann/json.hpp>

#include "fs/store_file_system.h"

namespace caudal {
namespace {

constexpr const char* kLedgerMagic = "file-sink-ledger";
constexpr int kLedgerVersion = 1;

}  // namespace

Result<Epoch> CommitLedger::Read() {
  ASSIGN_OR_RETURN(const bool exists, files_->Exists(path_));
  if (!exists) return Epoch();
  ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path_));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? json[key].get<int64_t>() : int64_t{0};
  };
  // What cannot be read proves nothing: a missing file is then lost, as without a ledger.
  if (!json.is_object() || !json.contains("caudal") || json["caudal"] != kLedgerMagic) return Epoch();
  if (number("version") != kLedgerVersion) return Epoch();
  return Epoch{number("generation"), number("epoch")};
}

Status CommitLedger::Write(Epoch epoch) {
  ASSIGN_OR_RETURN(const Epoch written, Read());
  if (written >= epoch) return Status();
  const nlohmann::ordered_json json = {{"caudal", kLedgerMagic},
                                       {"version", kLedgerVersion},
                                       {"generation", epoch.generation},
                                       {"epoch", epoch.number}};
  return ReplaceFile(files_, path_, json.dump() + "\n");
}

}  // namespace caudal
