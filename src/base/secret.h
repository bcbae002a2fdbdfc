// Secrets: values that reach caudal through ${env:NAME} and must never be printed.
//
// Texts keep their references (catalog, EXPLAIN, manifests); Expand puts the values in at the last moment,
// for a connector's eyes, and remembers them, so that Redact can mask them in any text that leaves the
// process. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

class Secrets {
 public:
  // The text with each ${env:NAME} replaced. User error, naming it, when a variable is not set.
  static Result<std::string> Expand(std::string_view text);
  // The text with every value that Expand ever put in shown as "***", also where JSON or a log has escaped
  // it. Values of less than four bytes stay: they would mask half of all numbers.
  static std::string Redact(std::string text);
  // For what people read about an error: short values, too, where they stand by themselves.
  static std::string RedactMessage(std::string text);
};

}  // namespace caudal
