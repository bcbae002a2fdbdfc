#include "base/json_document.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

// How deep the brackets of `text` nest, whether or not it is JSON; a lower bound is not enough, and it is
// none: brackets inside strings are passed over as a parser would.
int Depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

// Keeps the place of the first error; the library would tell it by an exception alone.
class ErrorPlace : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }
  size_t position() const { return position_; }

 private:
  size_t position_ = 0;
};

}  // namespace

Result<nlohmann::ordered_json> ParseJsonDocument(std::string_view text) {
  if (Depth(text) > kMaxJsonDepth) {
    return Status::Data(fmt::format("the JSON nests deeper than {} levels", kMaxJsonDepth));
  }
  auto document = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    ErrorPlace place;
    nlohmann::ordered_json::sax_parse(text, &place);
    return Status::Data(fmt::format("no JSON: it breaks at byte {} of {}", place.position(), text.size()));
  }
  return document;
}

}  // namespace caudal
