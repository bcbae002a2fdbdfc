#include "format/json_structure.h"

#include <simdjson.h>

#include <algorithm>

namespace caudal {

struct JsonStructure::Stage {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  size_t capacity = 0;
};

namespace {

constexpr size_t kFirstCapacity = 64 * 1024;
constexpr size_t kUnusedDepth = 1;  // only the second stage, which is not run, has a depth

const char* Describe(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "a string has no end";
    case simdjson::UNESCAPED_CHARS:
      return "a string has a control character or a line break";
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::CAPACITY:
      return "it is too long";
    default:
      return "its tokens cannot be told apart";
  }
}

}  // namespace

JsonStructure::JsonStructure() : stage_(std::make_unique<Stage>()) {}
JsonStructure::~JsonStructure() = default;

const char* JsonStructure::Index(std::string_view text) {
  count_ = 0;
  if (text.empty()) return Describe(simdjson::EMPTY);
  if (text.size() > stage_->capacity) {
    const size_t capacity = std::max({kFirstCapacity, text.size(), stage_->capacity * 2});
    const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
        capacity, kUnusedDepth, stage_->parser);
    stage_->capacity = error ? 0 : capacity;
    if (error) return Describe(error);
  }
  const auto error = stage_->parser->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                            simdjson::stage1_mode::regular);
  if (error) return Describe(error);
  positions_ = stage_->parser->structural_indexes.get();
  count_ = stage_->parser->n_structural_indexes;
  return nullptr;
}

}  // namespace caudal
