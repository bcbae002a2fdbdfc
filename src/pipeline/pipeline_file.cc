#include "pipeline/pipeline_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <initializer_list>

#include "api/connector.h"

namespace caudal {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

std::string Line(const YAML::Node& node, const std::string& name) {
  return fmt::format("{}, line {}", name, std::max(node.Mark().line, 0) + 1);  // an empty file has no mark
}

// YAML::Load reads the first document and no more; YAML::LoadAll never ends on ",a". What follows a marker
// in the first column is a document of its own, whatever stands around it (YAML 1.2, 9.1.2).
Status CheckOneDocument(std::string_view yaml, const std::string& name) {
  bool begun = false;
  for (int line = 1; !yaml.empty(); ++line) {
    const std::string_view text = yaml.substr(0, yaml.find('\n'));
    yaml.remove_prefix(std::min(text.size() + 1, yaml.size()));
    const bool marker = text.starts_with("---") && text.find_first_not_of(" \t\r", 3) != 3;
    if (marker && begun) {
      return Status::User("a second document begins in the pipeline file")
          .At(fmt::format("{}, line {}", name, line))
          .Hint("a file describes one pipeline: remove the '---' and what follows it");
    }
    const size_t first = text.find_first_not_of(" \t\r");
    begun = begun || marker || (first != std::string_view::npos && text[first] != '#' && text[0] != '%');
  }
  return Status();
}

// YAML has the first of two equal keys win, and nobody sees that the other says something else.
Status CheckNoKeyTwice(const YAML::Node& map, const std::string& name) {
  std::map<std::string, int> seen;  // → line
  for (const auto& entry : map) {
    const auto [place, is_new] = seen.try_emplace(entry.first.Scalar(), entry.first.Mark().line + 1);
    if (is_new) continue;
    return Status::User(fmt::format("key '{}' is there twice", place->first))
        .At(Line(entry.first, name))
        .Hint(fmt::format("the first one is in line {}: remove one of them", place->second));
  }
  return Status();
}

Status CheckKeys(const YAML::Node& map, std::string_view where, std::initializer_list<std::string_view> known,
                 const std::string& name) {
  if (!map.IsMap()) return Status::User(fmt::format("{} is not a map of keys", where)).At(Line(map, name));
  RETURN_IF_ERROR(CheckNoKeyTwice(map, name));
  for (const auto& entry : map) {
    const std::string key = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Status::User(fmt::format("unknown key '{}' in {}", key, where))
        .At(Line(entry.first, name))
        .Hint(fmt::format("keys are {}", fmt::join(known, ", ")));
  }
  return Status();
}

Status ReadText(const YAML::Node& map, const char* key, const std::string& name, std::string* out) {
  const YAML::Node node = map[key];
  if (!node || node.IsNull()) return Status();
  if (!node.IsScalar()) return Status::User(fmt::format("'{}' is not a text", key)).At(Line(node, name));
  *out = node.Scalar();
  return Status();
}

Status ReadNumber(const YAML::Node& map, const char* key, double least, const std::string& name,
                  std::optional<double>* out) {
  const YAML::Node node = map[key];
  if (!node || node.IsNull()) return Status();
  double number = 0;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, number) || !(number >= least)) {
    return Status::User(fmt::format("'{}': '{}' is not a number of at least {}", key,
                                    node.IsScalar() ? node.Scalar() : "…", least))
        .At(Line(node, name));
  }
  constexpr double kLargest = 1e15;  // whole numbers up to it are exact, and it fits an integer
  if (number > kLargest) {
    return Status::User(fmt::format("'{}': '{}' is too large", key, node.Scalar())).At(Line(node, name));
  }
  *out = number;
  return Status();
}

Status ReadSlo(const YAML::Node& node, const std::string& name, PipelineFile::Slo* slo) {
  RETURN_IF_ERROR(CheckKeys(node, "'slo'", {"freshness_p95_seconds", "completeness_percent"}, name));
  RETURN_IF_ERROR(ReadNumber(node, "freshness_p95_seconds", 0, name, &slo->freshness_p95_seconds));
  RETURN_IF_ERROR(ReadNumber(node, "completeness_percent", 0, name, &slo->completeness_percent));
  if (slo->completeness_percent.value_or(0) > 100) {
    return Status::User("'completeness_percent' is over 100").At(Line(node["completeness_percent"], name));
  }
  return Status();
}

Status ReadWatermark(const YAML::Node& node, const std::string& name, PipelineFile* file) {
  RETURN_IF_ERROR(CheckKeys(node, "'watermark'", {"delay", "why", "accepted_loss_ppm"}, name));
  PipelineFile::WatermarkReason reason;
  std::string delay;
  RETURN_IF_ERROR(ReadText(node, "delay", name, &delay));
  RETURN_IF_ERROR(ReadText(node, "why", name, &reason.why));
  RETURN_IF_ERROR(ReadNumber(node, "accepted_loss_ppm", 0, name, &reason.accepted_loss_ppm));
  if (reason.why.empty()) {
    return Status::User("'watermark' does not say why")
        .At(Line(node, name))
        .Hint("add 'why': what is lost by waiting no longer, and who agreed to it");
  }
  if (delay.empty())
    return Status::User("'watermark' has no 'delay'").At(Line(node, name)).Hint("as in 'delay: 5 min'");
  Result<int64_t> millis = ParseDurationMillis(delay);
  if (!millis.ok()) return std::move(millis).status().At(Line(node["delay"], name));
  reason.delay_millis = *millis;
  reason.place = Line(node["delay"], name);
  file->watermark = std::move(reason);
  return Status();
}

// One text, or a list of them.
Status ReadSqlFiles(const YAML::Node& map, const char* key, const std::string& name,
                    std::vector<std::string>* out) {
  const YAML::Node node = map[key];
  const auto add = [&](const YAML::Node& entry) -> Status {
    if (!entry.IsScalar() || entry.Scalar().empty()) {
      return Status::User(fmt::format("'{}' is not a file's name or a list of them", key))
          .At(Line(entry, name));
    }
    out->push_back(entry.Scalar());
    return Status();
  };
  if (!node || node.IsNull()) return Status();
  if (!node.IsSequence()) return add(node);
  for (const YAML::Node& entry : node) RETURN_IF_ERROR(add(entry));
  return Status();
}

Status ReadProfiles(const YAML::Node& node, const std::string& name, PipelineFile* file) {
  if (!node.IsMap()) return Status::User("'profiles' is not a map of name: profile").At(Line(node, name));
  RETURN_IF_ERROR(CheckNoKeyTwice(node, name));
  for (const auto& entry : node) {
    const std::string where = fmt::format("profile '{}'", entry.first.Scalar());
    if (entry.first.Scalar().empty())
      return Status::User("a profile has no name").At(Line(entry.first, name));
    RETURN_IF_ERROR(CheckKeys(entry.second, where, {"tables"}, name));
    std::vector<std::string>& tables = file->profiles[entry.first.Scalar()];
    RETURN_IF_ERROR(ReadSqlFiles(entry.second, "tables", name, &tables));
    if (tables.empty()) {
      return Status::User(where + " has no 'tables'")
          .At(Line(entry.first, name))
          .Hint("name the files whose table definitions stand in the place of the pipeline's own");
    }
  }
  if (!file->tables.empty() || file->profiles.empty()) return Status();
  return Status::User("there are profiles, and no 'tables' that they could replace")
      .At(Line(node, name))
      .Hint("move the table definitions into files of their own and name them under 'tables'");
}

Status ReadSources(const YAML::Node& node, const std::string& name, PipelineFile* file) {
  if (!node.IsSequence()) return Status::User("'sources' is not a list").At(Line(node, name));
  for (const YAML::Node& source : node) {
    if (!source.IsScalar()) return Status::User("a source is not a table's name").At(Line(source, name));
    file->sources.push_back({source.Scalar(), Line(source, name)});
  }
  return Status();
}

Status ReadTargets(const YAML::Node& node, const std::string& name, PipelineFile* file) {
  if (!node.IsMap()) return Status::User("'targets' is not a map of layer: table").At(Line(node, name));
  RETURN_IF_ERROR(CheckNoKeyTwice(node, name));
  for (const auto& entry : node) {
    if (!entry.second.IsScalar())
      return Status::User("a target is not a table's name").At(Line(entry.first, name));
    file->targets[entry.first.Scalar()] = {entry.second.Scalar(), Line(entry.second, name)};
  }
  return Status();
}

Status ReadRecovery(const YAML::Node& node, const std::string& name, PipelineFile* file) {
  RETURN_IF_ERROR(CheckKeys(node, "'recovery'", {"rto_minutes", "replay_source"}, name));
  std::optional<double> minutes;
  RETURN_IF_ERROR(ReadNumber(node, "rto_minutes", 0, name, &minutes));
  if (minutes) file->recovery.rto_minutes = static_cast<int64_t>(*minutes);
  RETURN_IF_ERROR(ReadText(node, "replay_source", name, &file->recovery.replay_source.name));
  if (!file->recovery.replay_source.name.empty())
    file->recovery.replay_source.place = Line(node["replay_source"], name);
  return Status();
}

Status ReadMemory(const YAML::Node& root, const std::string& name, PipelineFile* file) {
  std::string memory;
  RETURN_IF_ERROR(ReadText(root, "memory", name, &memory));
  if (memory.empty()) return Status();
  Result<int64_t> bytes = ParseBytes(memory);
  if (!bytes.ok())
    return std::move(bytes).status().At(Line(root["memory"], name)).Hint("as in 'memory: 2 GB'");
  file->memory_bytes = *bytes;
  return Status();
}

Status ReadFile(const YAML::Node& root, const std::string& name, PipelineFile* file) {
  RETURN_IF_ERROR(CheckKeys(root, "the pipeline file",
                            {"pipeline", "version", "owner", "memory", "tables", "sql", "profiles", "sources",
                             "targets", "slo", "recovery", "watermark"},
                            name));
  RETURN_IF_ERROR(ReadText(root, "pipeline", name, &file->pipeline));
  RETURN_IF_ERROR(ReadText(root, "version", name, &file->version));
  RETURN_IF_ERROR(ReadText(root, "owner", name, &file->owner));
  RETURN_IF_ERROR(ReadMemory(root, name, file));
  RETURN_IF_ERROR(ReadSqlFiles(root, "tables", name, &file->tables));
  RETURN_IF_ERROR(ReadSqlFiles(root, "sql", name, &file->sql));
  if (root["profiles"]) RETURN_IF_ERROR(ReadProfiles(root["profiles"], name, file));
  if (root["sources"]) RETURN_IF_ERROR(ReadSources(root["sources"], name, file));
  if (root["targets"]) RETURN_IF_ERROR(ReadTargets(root["targets"], name, file));
  if (root["slo"]) RETURN_IF_ERROR(ReadSlo(root["slo"], name, &file->slo));
  if (root["recovery"]) RETURN_IF_ERROR(ReadRecovery(root["recovery"], name, file));
  if (root["watermark"]) RETURN_IF_ERROR(ReadWatermark(root["watermark"], name, file));
  if (file->pipeline.empty()) {
    return Status::User("the pipeline has no name").At(name).Hint("add 'pipeline: <name>'");
  }
  // The name becomes a folder of the state.
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  if (!std::all_of(file->pipeline.begin(), file->pipeline.end(), fits) || file->pipeline.front() == '.') {
    return Status::User(fmt::format("'{}' cannot name a pipeline", file->pipeline))
        .At(Line(root["pipeline"], name))
        .Hint("use letters, digits, '-', '_' and '.'");
  }
  if (file->owner.empty()) {
    return Status::User(fmt::format("pipeline '{}' has no owner", file->pipeline))
        .At(name)
        .Hint("add 'owner: <who is called at night>'");
  }
  return Status();
}

std::string_view LastPart(std::string_view table) { return table.substr(table.rfind('.') + 1); }

// By its whole name, or by the last part of a name with catalog and database.
bool Find(std::string_view table, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == table || name == LastPart(table); });
}

Status CheckSources(const PipelineFile& file, const PipelineQueries& queries) {
  for (const PipelineFile::TableName& source : file.sources) {
    if (Find(source.name, queries.read_tables)) continue;
    return Status::User(fmt::format("source '{}' is read by no query", source.name))
        .At(source.place)
        .Hint("write the name of a table that the SQL reads, or remove the source");
  }
  const PipelineFile::TableName& replay = file.recovery.replay_source;
  if (replay.name.empty() || Find(replay.name, queries.tables)) return Status();
  return Status::User(fmt::format("there is no table '{}' to replay from", replay.name))
      .At(replay.place)
      .Hint(fmt::format("the SQL has {}", fmt::join(queries.tables, ", ")));
}

// Waiting loses rows that come later still: someone decided how long, and the file says why.
Status CheckWatermarks(const PipelineFile& file, const PipelineQueries& queries) {
  for (const auto& [table, delay] : queries.watermarks) {
    if (!file.watermark) {
      if (delay <= 0) continue;
      return Status::User(fmt::format("the watermark of table '{}' waits {} ms, and the pipeline file does "
                                      "not say why",
                                      table, delay))
          .At(file.path)
          .Hint(fmt::format("add 'watermark: {{delay: {} ms, why: …}}'", delay));
    }
    if (delay != file.watermark->delay_millis) {
      return Status::User(
                 fmt::format("table '{}' has a watermark delay of {} ms, the pipeline file gives its "
                             "reason for {} ms",
                             table, delay, file.watermark->delay_millis))
          .At(file.watermark->place)
          .Hint("make both the same");
    }
  }
  return Status();
}

}  // namespace

Result<PipelineFile> ParsePipelineFile(std::string_view yaml, const std::string& name) {
  if (yaml.size() > kMaxBytes) return Status::User("the pipeline file is over 1 MiB").At(name);
  PipelineFile file;
  file.path = name;
  try {
    RETURN_IF_ERROR(CheckOneDocument(yaml, name));
    RETURN_IF_ERROR(ReadFile(YAML::Load(std::string(yaml)), name, &file));
  } catch (const YAML::Exception& error) {
    return Status::User("not YAML: " + error.msg)
        .At(fmt::format("{}, line {}", name, std::max(error.mark.line, 0) + 1));
  }
  return file;
}

Result<std::vector<std::string>> TableFiles(const PipelineFile& file, const std::string& profile) {
  if (profile.empty()) return file.tables;
  const auto found = file.profiles.find(profile);
  if (found != file.profiles.end()) return found->second;
  std::string names;
  for (const auto& [name, tables] : file.profiles)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  return Status::User(fmt::format("pipeline '{}' has no profile '{}'", file.pipeline, profile))
      .At(file.path)
      .Hint(names.empty() ? "it has no 'profiles'" : "it has " + names);
}

Status CheckPipeline(const PipelineFile& file, const PipelineQueries& queries) {
  std::vector<std::string> names = queries.checkpoint_names;
  std::sort(names.begin(), names.end());
  if (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    return Status::User(fmt::format("two queries of pipeline '{}' would share the checkpoint '{}'",
                                    file.pipeline, *twice))
        .Hint("give one of them a name of its own: SET 'pipeline.name' = '…' before it");
  }
  for (const auto& [layer, table] : file.targets) {
    if (Find(table.name, queries.written_tables)) continue;
    return Status::User(fmt::format("target '{}' ({}) is written by no query", table.name, layer))
        .At(table.place)
        .Hint(fmt::format("add INSERT INTO `{}` to the SQL, or remove the target", LastPart(table.name)));
  }
  if (!queries.checkpoint_names.empty()) RETURN_IF_ERROR(CheckSources(file, queries));
  return CheckWatermarks(file, queries);
}

}  // namespace caudal
