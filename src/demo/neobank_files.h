// NeobankFiles: the stream cut into finished files, as a watched folder receives them. The names sort in the
// order of arrival. One thread; the caller writes and renames, at whatever pace.
#pragma once

#include <cstdint>
#include <string>

#include "demo/neobank_encoder.h"
#include "demo/neobank_expectation.h"
#include "demo/neobank_generator.h"
#include "demo/neobank_options.h"

namespace caudal {

struct NeobankFile {
  uint32_t number = 0;
  uint64_t events = 0;
  std::string name;
  std::string bytes;
};

class NeobankFiles {
 public:
  // Shows every row to `expectation` too, which outlives this, unless it is null.
  // REQUIRES: options.Validate().ok()
  NeobankFiles(const NeobankOptions& options, NeobankExpectation* expectation);

  // The next file into `file`, whose memory is used again; false after the last.
  bool Next(NeobankFile* file);

  static std::string NameOf(uint32_t number);  // transactions-00000042.ndjson

 private:
  const uint64_t file_events_;
  NeobankExpectation* const expectation_;
  NeobankGenerator generator_;
  NeobankEncoder encoder_;
  uint32_t next_number_ = 0;
};

}  // namespace caudal
