#include "api/connector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

namespace caudal {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

// Flink's TimeUtils.
constexpr Unit kDurations[] = {
    {"ms", 1},           {"milli", 1},        {"millis", 1},        {"millisecond", 1}, {"milliseconds", 1},
    {"s", 1000},         {"sec", 1000},       {"secs", 1000},       {"second", 1000},   {"seconds", 1000},
    {"m", 60'000},       {"min", 60'000},     {"mins", 60'000},     {"minute", 60'000}, {"minutes", 60'000},
    {"h", 3'600'000},    {"hour", 3'600'000}, {"hours", 3'600'000}, {"d", 86'400'000},  {"day", 86'400'000},
    {"days", 86'400'000}};
// Flink's MemorySize: binary units.
constexpr Unit kSizes[] = {{"b", 1},
                           {"bytes", 1},
                           {"k", 1 << 10},
                           {"kb", 1 << 10},
                           {"kibibytes", 1 << 10},
                           {"m", 1 << 20},
                           {"mb", 1 << 20},
                           {"mebibytes", 1 << 20},
                           {"g", 1 << 30},
                           {"gb", 1 << 30},
                           {"gibibytes", 1 << 30},
                           {"t", int64_t{1} << 40},
                           {"tb", int64_t{1} << 40},
                           {"tebibytes", int64_t{1} << 40}};

// A hundred years: added to the time of now, what is longer overflows nanoseconds here and the clocks of
// servers that are told of it.
constexpr int64_t kLongestMillis = int64_t{36'500} * 86'400'000;

std::string LowerTrimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// A number and a unit; a bare number counts `bare` each.
Result<int64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units, int64_t bare,
                              std::string_view what) {
  const std::string lower = LowerTrimmed(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), number);
  std::string_view unit(end, static_cast<size_t>(lower.data() + lower.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  int64_t factor = unit.empty() ? bare : 0;
  for (const Unit& known : units) {
    if (known.name == unit) factor = known.factor;
  }
  int64_t product = 0;
  if (error != std::errc() || factor == 0 || number < 0 || __builtin_mul_overflow(number, factor, &product)) {
    return Status::User(fmt::format("'{}' is not a {}", text, what));
  }
  return product;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

bool Matches(const OptionSpec& spec, std::string_view name) {
  if (spec.name.ends_with('*')) return name.starts_with(spec.name.substr(0, spec.name.size() - 1));
  return spec.name == name;
}

// "connector 'kafka' of table 't'", "connector 'iceberg' of catalog 'lake'".
Status UnknownOption(std::span<const OptionSpec> specs, std::string_view of, std::string_view name) {
  std::string_view nearest;
  size_t best = 5;  // further away is no help
  for (const OptionSpec& spec : specs) {
    if (spec.type == OptionSpec::Type::kNotBuilt) continue;
    const size_t distance = EditDistance(name, spec.name);
    if (distance < best) {
      best = distance;
      nearest = spec.name;
    }
  }
  std::string known;
  for (const OptionSpec& spec : specs) {
    if (spec.type == OptionSpec::Type::kNotBuilt) continue;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", spec.name);
  }
  return Status::User(fmt::format("unknown option '{}' for {}", name, of))
      .Hint(nearest.empty() ? "options are " + known : fmt::format("did you mean '{}'?", nearest));
}

Status CheckValue(const OptionSpec& spec, std::string_view value) {
  int64_t number = 0;
  switch (spec.type) {
    case OptionSpec::Type::kString:
      return Status();
    case OptionSpec::Type::kInteger: {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size()) return Status();
      return Status::User(fmt::format("'{}' is not an integer", value));
    }
    case OptionSpec::Type::kBoolean:
      if (LowerTrimmed(value) == "true" || LowerTrimmed(value) == "false") return Status();
      return Status::User(fmt::format("'{}' is not true or false", value));
    case OptionSpec::Type::kDuration:
      return ParseDurationMillis(value).status();
    case OptionSpec::Type::kBytes:
      return ParseBytes(value).status();
    case OptionSpec::Type::kNotBuilt:
      if (!spec.default_value.empty() && LowerTrimmed(value) == spec.default_value) return Status();
      return Status::User("this option is not built yet").Hint(std::string(spec.doc));
  }
  return Status();
}

// Options of every table, whatever its connector.
constexpr OptionSpec kEverywhere[] = {
    {"connector", OptionSpec::Type::kString, "", "which connector reads or writes the table", true},
    {"caudal.errors", OptionSpec::Type::kString, "fail", "what a bad row does: fail, skip, or dead-letter"},
    {"caudal.dead-letter", OptionSpec::Type::kString, "", "the table that bad and late rows go to"},
    {"caudal.max-future-skew", OptionSpec::Type::kDuration, "5 min",
     "a row further ahead of its arrival does not move the clock"},
    {"scan.watermark.alignment.max-drift", OptionSpec::Type::kDuration, "",
     "a split further ahead of the slowest is not polled"},
    {"scan.watermark.idle-timeout", OptionSpec::Type::kDuration, "0 s",
     "a split silent for so long does not hold the watermark"},
};

}  // namespace

Result<int64_t> ParseDurationMillis(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t millis, ParseWithUnit(text, kDurations, 1, "duration"));
  if (millis <= kLongestMillis) return millis;
  return Status::User(fmt::format("'{}' is too long", text)).Hint("no time is longer than '36500 d'");
}
Result<int64_t> ParseBytes(std::string_view text) { return ParseWithUnit(text, kSizes, 1, "size in bytes"); }

Result<std::unique_ptr<Source>> Connector::MakeSource(const Table& table, const ReadRequest&,
                                                      const ConnectorContext&) const {
  return Status::User(
      fmt::format("table '{}' cannot be read: connector '{}' only writes", table.name, name()));
}

Result<std::unique_ptr<Sink>> Connector::MakeSink(const Table& table, const ConnectorContext&) const {
  return Status::User(
      fmt::format("table '{}' cannot be written: connector '{}' only reads", table.name, name()));
}

Result<std::unique_ptr<LookupReader>> Connector::MakeLookup(const Table& table, const LookupRequest&,
                                                            const ConnectorContext&) const {
  return Status::User(
      fmt::format("table '{}' cannot be looked up in: connector '{}' has no lookup", table.name, name()));
}

Result<std::unique_ptr<ExternalCatalog>> Connector::MakeCatalog(const std::string& catalog, const Options&,
                                                                const ConnectorContext&) const {
  return Status::Internal(fmt::format("catalog '{}': connector '{}' has no catalogs", catalog, name()));
}

namespace {

// `of` as UnknownOption has it; `owner`: "table 't'".
Status CheckOptionList(std::span<const OptionSpec> specs, std::span<const OptionSpec> everywhere,
                       const Options& options, const std::string& connector, const std::string& owner) {
  const std::string of = fmt::format("connector '{}' of {}", connector, owner);
  for (const auto& [name, value] : options) {
    const OptionSpec* found = nullptr;
    for (const OptionSpec& spec : everywhere) found = spec.name == name ? &spec : found;
    for (const OptionSpec& spec : specs) found = Matches(spec, name) ? &spec : found;
    if (found == nullptr) return UnknownOption(specs, of, name);
    Status status = CheckValue(*found, value);
    if (!status.ok()) return std::move(status).At(fmt::format("option '{}' of {}", name, owner));
  }
  for (const OptionSpec& spec : specs) {
    if (!spec.required || options.contains(spec.name)) continue;
    return Status::User(
               fmt::format("{} has no option '{}', which connector '{}' needs", owner, spec.name, connector))
        .Hint(fmt::format("add '{}' = '…' to WITH: {}", spec.name, spec.doc));
  }
  return Status();
}

// What only moves a watermark, or waits for one.
Status CheckWatermarkOptions(const Table& table) {
  if (table.watermark) return Status();
  for (const char* name :
       {"caudal.max-future-skew", "scan.watermark.alignment.max-drift", "scan.watermark.idle-timeout"}) {
    if (!table.options.contains(name)) continue;
    return Status::User(fmt::format("'{}' has no effect on a table without a WATERMARK", name))
        .Hint("declare one, as in WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, or leave the option out");
  }
  return Status();
}

}  // namespace

Status ValidateOptions(const Connector& connector, const Table& table) {
  const std::string owner = fmt::format("table '{}'", table.name);
  RETURN_IF_ERROR(
      CheckOptionList(connector.options(), kEverywhere, table.options, std::string(connector.name()), owner));
  Status status = CheckWatermarkOptions(table);
  if (status.ok()) status = connector.CheckOptions(table);
  return status.ok() ? status : std::move(status).At(owner);
}

Status ValidateCatalogOptions(const Connector& connector, const std::string& catalog,
                              const Options& options) {
  return CheckOptionList(connector.catalog_options(), {}, options, std::string(connector.name()),
                         fmt::format("catalog '{}'", catalog));
}

}  // namespace caudal
