// NeobankText: how the values of a transaction are written. Each Put writes at `out` and returns the end of
// what it wrote; nothing is terminated. REQUIRES: room for kLongestValue bytes at `out`.
//
// An object remembers the text of recent minutes, so it belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "demo/neobank_event.h"

namespace caudal {

class NeobankText {
 public:
  static constexpr int kLongestValue = 40;
  static constexpr int kLongestLine = 512;  // a row as JSON or tab-separated, with its line end

  static char* Put(char* out, std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
  }
  static char* PutUuid(char* out, uint64_t high, uint64_t low);  // lower case, with hyphens
  static char* PutAccount(char* out, uint32_t account);          // ACC-00000042
  static char* PutMerchant(char* out, uint32_t merchant);        // MER-000042
  static char* PutCents(char* out, int64_t cents);               // -12.05
  static char* PutDate(char* out, int64_t time_ms);              // 2025-03-03
  char* PutTimestamp(char* out, int64_t time_ms);                // 2025-03-03 09:00:00.000
  // The row as the silver table holds it: ten fields with tabs between them, NULL as \N, no line end.
  // REQUIRES: room for kLongestLine; event.defect == kNone.
  char* PutRow(char* out, const NeobankEvent& event);

 private:
  struct Minute {
    int64_t number = -1;
    char text[17];  // "2025-03-03 09:00:"
  };
  std::array<Minute, 64> minutes_;
};

}  // namespace caudal
