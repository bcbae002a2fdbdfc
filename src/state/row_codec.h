// RowCodec: what the rows of a state table are made of: a fixed width of bytes, and what hangs from them.
//
// A table owns its rows, keeps them 8-aligned at a stable address, and calls Init once before and Destroy
// once after use. Codecs hold no rows themselves; one thread. The bytes of Encode are what snapshots keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

class RowCodec {
 public:
  virtual ~RowCodec() = default;

  virtual size_t width() const = 0;
  virtual void Init(char* row) const = 0;
  virtual void Destroy(char* row) const = 0;
  // Bytes that hang from the row, for the memory budget.
  virtual int64_t ExtraBytes(const char* row) const = 0;
  virtual void Encode(const char* row, std::string* out) const = 0;
  // Consumes its bytes from the front of `in`; the row was just initialised. Data error on damage.
  virtual Status Decode(std::string_view* in, char* row) const = 0;
  // The layout in words: equal texts restore each other's rows.
  virtual std::string Fingerprint() const = 0;
};

}  // namespace caudal
