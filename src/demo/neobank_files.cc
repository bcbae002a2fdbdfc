#include "demo/neobank_files.h"

#include <fmt/format.h>

#include <algorithm>

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
    // A few rows ahead of the expectation, so that it need not wait for memory.
    constexpr uint64_t kAhead = 32;
    NeobankEvent ahead[kAhead];
    char line[NeobankText::kLongestLine];
    uint64_t rows = kAhead;
    while (rows == kAhead && file->events < file_events_) {
      const uint64_t wanted = std::min(kAhead, file_events_ - file->events);
      for (rows = 0; rows < wanted && generator_.Next(&ahead[rows]); ++rows)
        expectation_->Prefetch(ahead[rows]);
      for (uint64_t row = 0; row < rows; ++row) {
        expectation_->Observe(ahead[row], {0, next_number_, file->bytes.size()});
        file->bytes.append(line, static_cast<size_t>(encoder_.Encode(line, ahead[row]) - line));
      }
      file->events += rows;
    }
  }
  if (file->events == 0) return false;
  file->number = next_number_++;
  file->name = NameOf(file->number);
  return true;
}

}  // namespace caudal
