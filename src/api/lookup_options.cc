#include "api/lookup_options.h"

#include <fmt/format.h>

#include <charconv>

#include "api/boolean_option.h"

namespace caudal {
namespace {

using OptionType = OptionSpec::Type;

constexpr std::string_view kPartialCache = "lookup.partial-cache.";
constexpr OptionSpec kOptions[] = {
    {"lookup.*", OptionType::kNotBuilt, "",
     "leave it out; answers are remembered with 'lookup.cache' = 'PARTIAL' and 'lookup.partial-cache.*'"},
    {"lookup.cache", OptionType::kString, "NONE", "PARTIAL: answers for keys are remembered"},
    {"lookup.partial-cache.max-rows", OptionType::kInteger, "", "how many keys each task remembers"},
    {"lookup.partial-cache.expire-after-write", OptionType::kDuration, "", "how long an answer stands"},
    {"lookup.partial-cache.expire-after-access", OptionType::kDuration, "",
     "how long it stands after it was last used"},
    {"lookup.partial-cache.cache-missing-key", OptionType::kBoolean, "true",
     "whether it is remembered that a key has no row"},
    {"lookup.max-retries", OptionType::kInteger, "3",
     "no effect: a request is repeated until it is answered"},
};

// As Flink reads words of an enumeration: whatever the case.
bool IsWord(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

Result<int64_t> Millis(const Table& table, std::string_view option) {
  const std::string_view text = table.option(option);
  if (text.empty()) return int64_t{0};
  ASSIGN_OR_RETURN(const int64_t millis, ParseDurationMillis(text));
  if (millis > 0) return millis;
  return Status::User(fmt::format("'{}' must be longer than nothing, not '{}'", option, text));
}

}  // namespace

Result<LookupOptions> LookupOptions::From(const Table& table) {
  LookupOptions options;
  const std::string_view cache = table.option("lookup.cache", "NONE");
  options.cached = IsWord(cache, "partial");
  if (!options.cached && !IsWord(cache, "none")) {
    if (IsWord(cache, "full")) {
      return Status::User("'lookup.cache' = 'FULL' is not built yet")
          .Hint("'PARTIAL' remembers the keys that were asked for");
    }
    return Status::User(fmt::format("'lookup.cache' is NONE or PARTIAL, not '{}'", cache));
  }
  for (const auto& [name, value] : table.options) {
    if (options.cached || !name.starts_with(kPartialCache)) continue;
    return Status::User(fmt::format("'{}' says nothing where 'lookup.cache' is 'NONE'", name))
        .Hint("set 'lookup.cache' = 'PARTIAL', or leave it out");
  }
  if (const std::string_view retries = table.option("lookup.max-retries"); retries.starts_with('-')) {
    return Status::User(fmt::format("'lookup.max-retries' is '{}'", retries))
        .Hint("leave it out: a request is repeated until it is answered");
  }
  if (const std::string_view rows = table.option("lookup.partial-cache.max-rows"); !rows.empty()) {
    const auto [end, error] = std::from_chars(rows.data(), rows.data() + rows.size(), options.max_rows);
    if (error != std::errc() || end != rows.data() + rows.size() || options.max_rows <= 0) {
      return Status::User(
          fmt::format("'lookup.partial-cache.max-rows' must be a number above 0, not '{}'", rows));
    }
  }
  ASSIGN_OR_RETURN(options.expire_after_write_millis,
                   Millis(table, "lookup.partial-cache.expire-after-write"));
  ASSIGN_OR_RETURN(options.expire_after_access_millis,
                   Millis(table, "lookup.partial-cache.expire-after-access"));
  options.caches_missing = BooleanOption(table, "lookup.partial-cache.cache-missing-key", true);
  return options;
}

std::vector<OptionSpec> WithLookupOptions(std::span<const OptionSpec> own) {
  std::vector<OptionSpec> all(own.begin(), own.end());
  all.insert(all.end(), std::begin(kOptions), std::end(kOptions));
  return all;
}

}  // namespace caudal
