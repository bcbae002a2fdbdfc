#include "connect/kafka/kafka_options.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "api/boolean_option.h"
#include "api/connector.h"
#include "format/format.h"

namespace caudal {
namespace {

using Mode = KafkaOffsetsSpec::Mode;

Status Wrong(const Table& table, std::string text) {
  return Status::User(fmt::format("table '{}': {}", table.name, text));
}

// Flink's lists are separated by ';'.
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// "partition:0,offset:42;partition:1,offset:300"
Result<std::map<int32_t, int64_t>> ParseOffsets(const Table& table, std::string_view option) {
  std::map<int32_t, int64_t> offsets;
  for (const std::string& entry : SplitList(table.option(option))) {
    std::string_view rest = entry;
    const size_t comma = rest.find(',');
    std::string_view partition = rest.substr(0, comma);
    std::string_view offset = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const bool named = partition.starts_with("partition:") && offset.starts_with("offset:");
    const auto number = named ? Number(partition.substr(10)) : std::nullopt;
    const auto at = named ? Number(offset.substr(7)) : std::nullopt;
    if (!number || !at || *number > INT32_MAX) {
      return Wrong(table, fmt::format("'{}' of '{}' is no offset of a partition", entry, option))
          .Hint("write it like 'partition:0,offset:42;partition:1,offset:300'");
    }
    if (!offsets.emplace(static_cast<int32_t>(*number), *at).second) {
      return Wrong(table, fmt::format("'{}' names partition {} twice", option, *number));
    }
  }
  if (offsets.empty()) return Wrong(table, fmt::format("'{}' is missing or empty", option));
  return offsets;
}

Result<KafkaOffsetsSpec> ParseMode(const Table& table, const std::string& prefix, std::string_view fallback) {
  constexpr std::pair<std::string_view, Mode> kModes[] = {
      {"earliest-offset", Mode::kEarliest},  {"latest-offset", Mode::kLatest},
      {"group-offsets", Mode::kGroup},       {"timestamp", Mode::kTimestamp},
      {"specific-offsets", Mode::kSpecific}, {"unbounded", Mode::kUnbounded}};
  const bool start = prefix == "scan.startup";
  const std::string_view wanted = table.option(prefix + ".mode", fallback);
  KafkaOffsetsSpec spec;
  bool known = false;
  for (const auto& [name, mode] : kModes) {
    if (name != wanted || mode == (start ? Mode::kUnbounded : Mode::kEarliest)) continue;
    spec.mode = mode;
    known = true;
  }
  if (!known) {
    return Wrong(table, fmt::format("'{}.mode' is '{}'", prefix, wanted))
        .Hint(start ? "it can be 'earliest-offset', 'latest-offset', 'group-offsets', 'timestamp' or "
                      "'specific-offsets'"
                    : "it can be 'unbounded', 'latest-offset', 'group-offsets', 'timestamp' or "
                      "'specific-offsets'");
  }
  const std::string time = prefix + ".timestamp-millis", offsets = prefix + ".specific-offsets";
  if (spec.mode == Mode::kTimestamp) {
    const auto millis = Number(table.option(time));
    if (!millis) return Wrong(table, fmt::format("'{}' must be milliseconds since 1970", time));
    spec.timestamp_millis = *millis;
  } else if (table.options.contains(time)) {
    return Wrong(table, fmt::format("'{}' has no effect: '{}.mode' is '{}'", time, prefix, wanted));
  }
  if (spec.mode == Mode::kSpecific) {
    ASSIGN_OR_RETURN(spec.offsets, ParseOffsets(table, offsets));
  } else if (table.options.contains(offsets)) {
    return Wrong(table, fmt::format("'{}' has no effect: '{}.mode' is '{}'", offsets, prefix, wanted));
  }
  return spec;
}

Status ReadTopics(const Table& table, KafkaTableOptions* options) {
  options->topics = SplitList(table.option("topic"));
  options->topic_pattern = table.option("topic-pattern");
  if (options->topics.empty() == options->topic_pattern.empty()) {
    return Wrong(table, options->topics.empty() ? "it has neither 'topic' nor 'topic-pattern'"
                                                : "it has both 'topic' and 'topic-pattern'");
  }
  options->left_out = SplitList(table.option("caudal.topics-left-out"));
  if (options->topic_pattern.empty() && !options->left_out.empty()) {
    return Wrong(table, "'caudal.topics-left-out' has no effect without 'topic-pattern'")
        .Hint("leave it out: only the topics that 'topic' names are read");
  }
  if (!options->topic_pattern.empty()) {
    const RE2 pattern(options->topic_pattern, RE2::Quiet);
    if (!pattern.ok()) {
      return Wrong(table, fmt::format("'topic-pattern' is no regular expression: {}", pattern.error()));
    }
    if (options->start.mode == Mode::kSpecific || options->stop.mode == Mode::kSpecific) {
      return Wrong(table, "specific offsets need one 'topic', not a pattern");
    }
  }
  std::vector<std::string> sorted = options->topics;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Wrong(table, "'topic' names a topic twice");
  }
  if (sorted.size() > 1 &&
      (options->start.mode == Mode::kSpecific || options->stop.mode == Mode::kSpecific)) {
    return Wrong(table, "specific offsets need one 'topic', as they name partitions alone");
  }
  return Status();
}

// Options of one format: "json.x", or "key.json.x" under its prefix, both without the prefix.
Options FormatOptionsOf(const Table& table, std::string_view prefix) {
  Options options;
  for (const auto& [name, value] : table.options) {
    if (prefix.empty()) {
      options[name] = value;
    } else if (name.starts_with(prefix)) {
      options[name.substr(prefix.size())] = value;
    }
  }
  return options;
}

// `options->key_fields`: which columns are in the key.
Status ReadFormats(const Table& table, KafkaTableOptions* options) {
  const std::string_view both = table.option("format"), value = table.option("value.format");
  if (both.empty() == value.empty()) {
    return Wrong(table, both.empty() ? "it has no 'format'" : "it has both 'format' and 'value.format'");
  }
  options->value_format = both.empty() ? value : both;
  options->value_options = FormatOptionsOf(table, both.empty() ? "value." : "");
  options->key_format = table.option("key.format");
  options->key_options = FormatOptionsOf(table, "key.");
  options->key_prefix = table.option("key.fields-prefix");
  const std::string_view include = table.option("value.fields-include", "ALL");
  if (include != "ALL" && include != "EXCEPT_KEY") {
    return Wrong(table, fmt::format("'value.fields-include' is '{}'", include))
        .Hint("it can be 'ALL' or 'EXCEPT_KEY'");
  }
  options->key_in_value = include == "ALL";
  if (options->key_format.empty() != options->key_fields.empty()) {
    return Wrong(table, options->key_format.empty() ? "'key.fields' needs 'key.format'"
                                                    : "'key.format' needs 'key.fields'");
  }
  if (!options->key_prefix.empty() && options->key_in_value) {
    return Wrong(table, "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'");
  }
  for (const std::string& name : options->key_fields) {
    const auto named = [&](const TableColumn& column) {
      return column.kind == TableColumn::Kind::kPhysical && column.name == name;
    };
    if (std::none_of(table.columns.begin(), table.columns.end(), named)) {
      return Wrong(table, fmt::format("'key.fields' names '{}', which is no column", name));
    }
    if (!name.starts_with(options->key_prefix)) {
      return Wrong(table, fmt::format("column '{}' of 'key.fields' does not begin with '{}'", name,
                                      options->key_prefix));
    }
  }
  return Status();
}

// What only the Java client knows and what here is always so.
bool IsIgnoredProperty(std::string_view name) {
  constexpr std::string_view kIgnored[] = {
      "key.deserializer", "value.deserializer", "auto.commit.interval.ms",
      "max.poll.records", "client.id.prefix",   "key.serializer",
      "value.serializer", "buffer.memory",      "max.block.ms"};
  return std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored);
}

// What is always so, and what would be asked for instead.
struct FixedProperty {
  std::string_view name, value, hint;
};

constexpr FixedProperty kFixed[] = {
    {"enable.auto.commit", "false",
     "leave it out: the offsets of an epoch are committed for 'properties.group.id' once the epoch is"},
    {"commit.offsets.on.checkpoint", "true", "leave 'properties.group.id' out, then none are committed"},
    {"enable.auto.offset.store", "false", "leave it out: positions are those of the checkpoint"},
    {"enable.partition.eof", "true", "leave it out: the ends of partitions are needed to tell the lag"},
    {"allow.auto.create.topics", "false",
     "leave it out; 'caudal.create-topic' = 'true' makes the topic that a table writes"},
};

Status CheckFixed(const Table& table, std::string_view property, std::string_view value) {
  for (const FixedProperty& fixed : kFixed) {
    if (fixed.name != property || fixed.value == value) continue;
    return Wrong(table, fmt::format("'properties.{}' is '{}', and it is always '{}' here", property, value,
                                    fixed.value))
        .Hint(std::string(fixed.hint));
  }
  return Status();
}

bool IsFixed(std::string_view property) {
  return std::any_of(std::begin(kFixed), std::end(kFixed),
                     [&](const FixedProperty& fixed) { return fixed.name == property; });
}

Status ReadProperties(const Table& table, KafkaTableOptions* options) {
  constexpr std::string_view kPrefix = "properties.";
  for (const auto& [name, value] : table.options) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string property = name.substr(kPrefix.size());
    RETURN_IF_ERROR(CheckFixed(table, property, value));
    if (property == "group.id") {
      options->group = value;
    } else if (property == "auto.offset.reset") {
      constexpr std::pair<std::string_view, Mode> kWays[] = {
          {"earliest", Mode::kEarliest}, {"latest", Mode::kLatest}, {"none", Mode::kUnbounded}};
      const auto way = std::find_if(std::begin(kWays), std::end(kWays),
                                    [&value](const auto& each) { return each.first == value; });
      if (way == std::end(kWays)) {
        return Wrong(table, fmt::format("'properties.auto.offset.reset' is '{}'", value))
            .Hint("it can be 'earliest', 'latest' or 'none'");
      }
      options->without_commit = way->second;
    } else if (property == "max.partition.fetch.bytes") {
      options->properties["fetch.message.max.bytes"] = value;
    } else if (property == "sasl.jaas.config" || property.starts_with("ssl.truststore") ||
               property == "ssl.keystore.type") {
      return Wrong(table, fmt::format("'{}' is for Java", name))
          .Hint(property.starts_with("sasl")
                    ? "set 'properties.sasl.username' and 'properties.sasl.password'"
                    : "set 'properties.ssl.ca.location' to a file of certificates in PEM");
    } else if (!IsIgnoredProperty(property) && !IsFixed(property)) {
      options->properties[property] = value;
    }
  }
  if (options->properties["bootstrap.servers"].empty()) {
    return Wrong(table, "it has no 'properties.bootstrap.servers'");
  }
  if ((options->start.mode == Mode::kGroup || options->stop.mode == Mode::kGroup) && options->group.empty()) {
    return Wrong(table, "group offsets need 'properties.group.id'")
        .Hint("or set 'scan.startup.mode', whose default is 'group-offsets', to 'earliest-offset'");
  }
  return Status();
}

}  // namespace

Status CheckKafkaFormats(const Table& table) {
  for (const std::string prefix : {"", "key.", "value."}) {
    const std::string_view format = table.option(prefix + "format");
    if (!format.empty()) RETURN_IF_ERROR(CheckFormat(format, FormatOptionsOf(table, prefix)));
  }
  return Status();
}

Result<KafkaTableOptions> KafkaTableOptions::From(const Table& table) {
  KafkaTableOptions options;
  ASSIGN_OR_RETURN(options.start, ParseMode(table, "scan.startup", "group-offsets"));
  ASSIGN_OR_RETURN(options.stop, ParseMode(table, "scan.bounded", "unbounded"));
  RETURN_IF_ERROR(ReadTopics(table, &options));
  options.key_fields = SplitList(table.option("key.fields"));
  RETURN_IF_ERROR(ReadFormats(table, &options));
  RETURN_IF_ERROR(ReadProperties(table, &options));
  options.accept_initial_skip = BooleanOption(table, "caudal.accept-initial-skip");
  const std::string_view loss = table.option("caudal.on-data-loss", "fail");
  if (loss != "fail" && loss != "record-and-continue") {
    return Wrong(table, fmt::format("'caudal.on-data-loss' is '{}'", loss))
        .Hint("it can be 'fail' or 'record-and-continue'");
  }
  options.record_loss = loss == "record-and-continue";
  const bool skips = options.start.mode == Mode::kLatest ||
                     (options.start.mode == Mode::kGroup && options.without_commit == Mode::kLatest);
  if (skips && !options.accept_initial_skip) {
    return Wrong(table, "a first start at the latest offset passes over all records that are there")
        .Hint("set 'caudal.accept-initial-skip' = 'true' if that is meant, or start at 'earliest-offset'");
  }
  ASSIGN_OR_RETURN(options.idle_millis,
                   ParseDurationMillis(table.option("scan.watermark.idle-timeout", "0 s")));
  ASSIGN_OR_RETURN(options.discovery_millis,
                   ParseDurationMillis(table.option("scan.topic-partition-discovery.interval", "5 min")));
  return options;
}

Result<KafkaTableOptions> KafkaTableOptions::ForSink(const Table& table, bool by_primary_key) {
  KafkaTableOptions options;
  RETURN_IF_ERROR(ReadTopics(table, &options));
  if (by_primary_key) {
    for (const int column : table.primary_key) {
      options.key_fields.push_back(table.columns[static_cast<size_t>(column)].name);
    }
  } else {
    options.key_fields = SplitList(table.option("key.fields"));
  }
  RETURN_IF_ERROR(ReadFormats(table, &options));
  RETURN_IF_ERROR(ReadProperties(table, &options));
  return options;
}

std::string KafkaTableOptions::Topics() const {
  if (!topic_pattern.empty()) return fmt::format("topics matching '{}'", topic_pattern);
  std::string names = topics.size() > 1 ? "topics " : "topic ";
  for (size_t i = 0; i < topics.size(); ++i) names += fmt::format("{}'{}'", i > 0 ? ", " : "", topics[i]);
  return names;
}

}  // namespace caudal
