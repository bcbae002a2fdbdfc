#include "connect/kafka/sink/sent_epoch.h"

#include <fmt/format.h>

#include "data/text/number_text.h"

namespace caudal {
namespace {

constexpr std::string_view kSentMagic = "CDLSENT1 ";

}  // namespace

Result<Epoch> SentEpoch::Read() const {
  ASSIGN_OR_RETURN(const bool exists, files_->Exists(path_));
  if (!exists) return Epoch();
  ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(path_));
  std::string_view rest = text;
  Epoch epoch;
  if (rest.starts_with(kSentMagic) && rest.ends_with('\n')) {
    rest = rest.substr(kSentMagic.size(), rest.size() - kSentMagic.size() - 1);
    const size_t dash = rest.find('-');
    if (dash != rest.npos && ParseWholeInteger(rest.substr(0, dash), &epoch.generation) &&
        ParseWholeInteger(rest.substr(dash + 1), &epoch.number)) {
      return epoch;
    }
  }
  return Status::Data(fmt::format("'{}' does not say which epoch was sent last", path_))
      .Hint("remove it: the last epoch is sent again, if it is still in the checkpoint");
}

Status SentEpoch::Note(const Epoch& epoch) {
  const std::string half = path_ + ".new";
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files_->Create(half));
  RETURN_IF_ERROR(file->Append(fmt::format("{}{}-{}\n", kSentMagic, epoch.generation, epoch.number)));
  RETURN_IF_ERROR(file->Close());
  return files_->Rename(half, path_);
}

}  // namespace caudal
