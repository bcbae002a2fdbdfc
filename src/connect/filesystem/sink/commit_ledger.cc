#include "connect/filesystem/sink/commit_ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fs/store_file_system.h"

namespace caudal {
namespace {

constexpr const char* kLedgerMagic = "file-sink-ledger";
constexpr int kLedgerVersion = 1;

}  // namespace

Result<CommitLedger::Noted> CommitLedger::ReadBoth() {
  ASSIGN_OR_RETURN(const bool exists, files_->Exists(path_));
  if (!exists) return Noted();
  ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path_));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? json[key].get<int64_t>() : int64_t{0};
  };
  // What cannot be read proves nothing: a missing file is then lost, as without a ledger.
  if (!json.is_object() || !json.contains("caudal") || json["caudal"] != kLedgerMagic) return Noted();
  if (number("version") != kLedgerVersion) return Noted();
  return Noted{.committed = {number("generation"), number("epoch")},
               .begun = {number("begun_generation"), number("begun_epoch")}};
}

Status CommitLedger::WriteBoth(const Noted& noted) {
  nlohmann::ordered_json json = {{"caudal", kLedgerMagic},
                                 {"version", kLedgerVersion},
                                 {"generation", noted.committed.generation},
                                 {"epoch", noted.committed.number}};
  if (noted.begun > noted.committed) {
    json["begun_generation"] = noted.begun.generation;
    json["begun_epoch"] = noted.begun.number;
  }
  return ReplaceFile(files_, path_, json.dump() + "\n");
}

Result<Epoch> CommitLedger::Read() {
  ASSIGN_OR_RETURN(const Noted noted, ReadBoth());
  return noted.committed;
}

Result<Epoch> CommitLedger::Newest() {
  ASSIGN_OR_RETURN(const Noted noted, ReadBoth());
  return std::max(noted.committed, noted.begun);
}

Status CommitLedger::Begin(Epoch epoch) {
  ASSIGN_OR_RETURN(Noted noted, ReadBoth());
  if (std::max(noted.committed, noted.begun) >= epoch) return Status();
  noted.begun = epoch;
  return WriteBoth(noted);
}

Status CommitLedger::Write(Epoch epoch) {
  ASSIGN_OR_RETURN(Noted noted, ReadBoth());
  if (noted.committed >= epoch) return Status();
  noted.committed = epoch;
  return WriteBoth(noted);
}

}  // namespace caudal
