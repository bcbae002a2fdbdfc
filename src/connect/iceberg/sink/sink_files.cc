#include "connect/iceberg/sink/sink_files.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <tuple>

#include "iceberg/commit/token_tag.h"

namespace caudal {
namespace {

constexpr size_t kDigits = 16;

struct SinkFileName {
  std::string sink;
  int64_t generation = 0;
  std::optional<int64_t> epoch;  // none: a data file in a store, which is named before its epoch is known
};

// A number and what is to stand behind it, both taken off; otherwise the text stays as it is.
std::optional<int64_t> TakeNumber(std::string_view* text, char behind = '-') {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const auto length = static_cast<size_t>(end - text->data());
  if (error != std::errc() || length >= text->size() || (*text)[length] != behind) return std::nullopt;
  text->remove_prefix(length + 1);
  return number;
}

// "<sink>-<generation>-<epoch>-…", also behind the "snap-<id>-<attempt>-" of a manifest list; in a store data
// files are "<sink>-<generation>_<task>-…".
std::optional<SinkFileName> ParseName(std::string_view name) {
  constexpr std::string_view kList = "snap-";
  if (name.starts_with(kList)) {
    name.remove_prefix(kList.size());
    if (!TakeNumber(&name) || !TakeNumber(&name)) return std::nullopt;
  }
  const size_t digits = name.find_first_not_of("0123456789abcdef");
  if (digits != kDigits || name[kDigits] != '-') return std::nullopt;
  SinkFileName parsed{.sink = std::string(name.substr(0, kDigits))};
  name.remove_prefix(kDigits + 1);
  const auto of_run = TakeNumber(&name, '_');
  const auto generation = of_run ? of_run : TakeNumber(&name);
  const auto next = generation ? TakeNumber(&name) : std::nullopt;
  if (!next) return std::nullopt;
  parsed.generation = *generation;
  if (!of_run) parsed.epoch = next;
  return parsed;
}

// Of "query@identity/sink".
std::string NumberOfPipeline(const std::string& pipeline) {
  const size_t at = pipeline.find('@');
  const size_t slash = at == std::string::npos ? at : pipeline.find('/', at);
  if (slash == std::string::npos) return "";
  return SinkNumber(pipeline.substr(at + 1, slash - at - 1), pipeline.substr(0, at),
                    pipeline.substr(slash + 1));
}

}  // namespace

// FNV-1a.
std::string SinkNumber(const std::string& identity, const std::string& query, const std::string& sink) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const std::string* text : {&identity, &query, &sink}) {
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    hash *= 0x100000001B3;  // the text's end
  }
  return fmt::format("{:016x}", hash);
}

bool MayBeCommitted(const iceberg::TableMetadata& table, const std::string& name) {
  const auto file = ParseName(name);
  if (!file) return false;
  // A sink commits its epochs in order, so that one on any branch settles all before it.
  for (const auto& [branch, ref] : table.refs) {
    if (ref.type != "branch") continue;
    for (const auto& [pipeline, snapshot] : iceberg::NewestTokens(table, branch)) {
      if (NumberOfPipeline(pipeline) != file->sink) continue;
      const auto token = iceberg::TokenOf(*snapshot);
      // Without an epoch it may be of any of its generation.
      const bool newer = file->epoch ? std::tuple(file->generation, *file->epoch) >
                                           std::tuple(token->generation, token->epoch)
                                     : file->generation >= token->generation;
      if (!newer) return false;
    }
  }
  return true;
}

}  // namespace caudal
