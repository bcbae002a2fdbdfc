// NeobankEncoder: a transaction as one line of JSON, its defect included. One thread; holds no events.
#pragma once

#include "demo/neobank_event.h"
#include "demo/neobank_text.h"

namespace caudal {

class NeobankEncoder {
 public:
  // Writes the line and its '\n' at `out`, returns the end. REQUIRES: room for NeobankText::kLongestLine
  // bytes.
  char* Encode(char* out, const NeobankEvent& event);

 private:
  char* EncodeIntact(char* out, const NeobankEvent& event);
  char* EncodeBroken(char* out, const NeobankEvent& event);
  char* PutValue(char* out, const NeobankEvent& event, int field);

  NeobankText text_;
};

}  // namespace caudal
