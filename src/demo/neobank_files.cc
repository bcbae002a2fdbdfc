#include "demo/neobank_files.h"

#include <fmt/format.h>

namespace caudal {

NeobankFiles::NeobankFiles(const NeobankOptions& options, NeobankExpectation* expectation)
    : file_events_(options.file_events), expectation_(expectation), generator_(options) {}

std::string NeobankFiles::NameOf(uint32_t number) { return fmt::format("transactions-{:08}.ndjson", number); }

bool NeobankFiles::Next(NeobankFile* file) {
  file->bytes.clear();
  file->events = 0;
  if (expectation_ == nullptr) {
    file->events = generator_.NextBlock(file_events_, &file->bytes);
  } else {
    NeobankEvent event;
    char line[NeobankText::kLongestLine];
    for (; file->events < file_events_ && generator_.Next(&event); ++file->events) {
      expectation_->Observe(event, next_number_, file->bytes.size());
      file->bytes.append(line, static_cast<size_t>(encoder_.Encode(line, event) - line));
    }
  }
  if (file->events == 0) return false;
  file->number = next_number_++;
  file->name = NameOf(file->number);
  return true;
}

}  // namespace caudal
