// Cutting a file into records: the same records whatever pieces the text arrives in, none overlapping, none
// empty but lines of text, and no byte that is not blank lost between them.
//
// The first byte chooses the kind of framing and the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/record_framing.h"

namespace caudal {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

using Spans = std::vector<std::pair<size_t, size_t>>;  // begin and size in the whole text

// As a reader does it: what no record has taken is read again with the next piece.
Spans Split(RecordFraming::Kind kind, std::string_view text, size_t piece) {
  RecordFraming framing(kind);
  Spans spans;
  size_t done = 0;
  for (size_t length = piece; done < text.size();) {
    const std::string_view here = text.substr(done, length);
    const bool last = done + length >= text.size();
    std::vector<std::string_view> records;
    const size_t taken = framing.Split(here, last, &records);
    if (taken > here.size() || (last && taken != here.size())) std::abort();
    for (const std::string_view record : records) {
      spans.emplace_back(static_cast<size_t>(record.data() - text.data()), record.size());
    }
    done += taken;
    length = taken == 0 ? length * 2 : piece;
  }
  return spans;
}

void Run(uint8_t choice, std::string_view text) {
  const bool json = (choice & 1) != 0;
  const auto kind = json ? RecordFraming::Kind::kJson : RecordFraming::Kind::kLines;
  const Spans whole = Split(kind, text, text.size() + 1);
  if (Split(kind, text, 1 + choice / 2u) != whole) std::abort();
  size_t at = 0;
  for (const auto& [begin, size] : whole) {
    if (begin < at || (json && size == 0)) std::abort();
    if (!std::all_of(text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(begin),
                     IsBlank)) {
      std::abort();
    }
    at = begin + size;
  }
  if (!std::all_of(text.begin() + static_cast<ptrdiff_t>(at), text.end(), IsBlank)) std::abort();
}

}  // namespace
}  // namespace caudal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  caudal::Run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
