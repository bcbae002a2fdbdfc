// JSON text inside strings: scanning without building a tree, paths into it, and writing it.
//
// Behind json.cc. Nothing is allocated to scan; a value is a view of the document. Strict RFC 8259 but for
// one thing that Flink does too: what stands behind the first value is not looked at. Depth is limited.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

inline constexpr int kMaxJsonDepth = 1000;

enum class JsonKind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

// The kind of a value by its first byte. REQUIRES: a scanned value.
JsonKind KindOfJson(std::string_view value);
// The first value of the document, without blanks around; false when it is broken.
bool ScanJson(std::string_view document, std::string_view* value);

// A path such as "lax $.a[0]['b c']".
struct JsonPath {
  struct Step {
    enum class Kind : uint8_t { kKey, kIndex, kAny } kind;
    std::string key;
    int64_t index = 0;
  };
  bool lax = false;
  bool valid = false;  // an invalid path is an error at every row, as in Flink
  std::vector<Step> steps;

  // User error for what is a path to Flink and not built here ("..", filters, slices).
  static Result<JsonPath> Compile(std::string_view text);
  bool definite() const;  // no kAny
};

// What a path finds. REQUIRES: `value` was scanned; path.definite(). The last of equal keys counts.
bool FindInJson(std::string_view value, const JsonPath& path, std::string_view* found);
// All that a path with [*] or .* finds, in order.
void FindAllInJson(std::string_view value, const JsonPath& path, std::vector<std::string_view>* found);

// A scalar as text: a string without its escapes, a number as Java's BigDecimal writes it.
void AppendJsonScalar(std::string_view value, std::string* out);
// The value as Flink writes it again: no blanks, keys sorted, the last of equal keys.
void AppendJsonNormalized(std::string_view value, std::string* out);
// In quotes, with what JSON must escape.
void AppendJsonString(std::string_view text, std::string* out);

// The string inside the quotes, escapes resolved. REQUIRES: a scanned string.
void AppendUnescaped(std::string_view quoted, std::string* out);
// JSON_QUOTE: also '/' and everything beyond ASCII escaped.
void AppendAsciiJsonString(std::string_view text, std::string* out);

}  // namespace caudal
