#include "connect/iceberg/sink/settled_epoch.h"

#include <fmt/format.h>

#include <charconv>

#include "fs/store_file_system.h"

namespace caudal {
namespace {

// "3-41"; false: it is something else.
bool ParseEpoch(std::string_view text, Epoch* epoch) {
  const char* end = text.data() + text.size();
  const auto generation = std::from_chars(text.data(), end, epoch->generation);
  if (generation.ec != std::errc() || generation.ptr == end || *generation.ptr != '-') return false;
  const auto number = std::from_chars(generation.ptr + 1, end, epoch->number);
  return number.ec == std::errc() && number.ptr == end;
}

}  // namespace

Result<bool> SettledEpoch::Has(Epoch epoch) const {
  ASSIGN_OR_RETURN(const bool there, files_->Exists(path_));
  if (!there) return false;
  ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path_));
  Epoch newest;
  if (ParseEpoch(text, &newest)) return epoch <= newest;
  return Status::Data(fmt::format("'{}' names no epoch", path_))
      .Hint(
          "restore it with the rest of the checkpoint, or remove it if the table was written by nobody else");
}

Status SettledEpoch::Note(Epoch epoch) const {
  return ReplaceFile(files_, path_, fmt::format("{}-{}", epoch.generation, epoch.number));
}

}  // namespace caudal
