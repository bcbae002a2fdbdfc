#include "server/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "connect/kafka/own_topics.h"
#include "expr/evaluator.h"
#include "fs/file_system.h"
#include "server/connectors.h"
#include "server/path_tables.h"
#include "server/program_files.h"

namespace caudal {
namespace {

Result<std::string> ReadText(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status::User(fmt::format("'{}' is a folder, not a pipeline file or SQL script", path.string()));
  }
  if (!std::filesystem::exists(path, error))
    return Status::User(fmt::format("there is no file '{}'", path.string()));
  return FileSystem::Local()->ReadAll(path.string());
}

// As the inside of a text literal.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '\'' ? std::string("''") : std::string(1, c);
  return escaped;
}

// The column's value at time 0: what is left of the expression is the delay.
void PutTimeZero(Expr* expr) {
  if (expr->kind == Expr::Kind::kColumn) *expr = Expr::Literal(expr->type, Value(int64_t{0}));
  for (Expr& arg : expr->args) PutTimeZero(&arg);
}

// A pipeline's checkpoints lie in a folder of its name, beside what the state has of its own.
Status CheckFolderIsFree(const std::string& pipeline) {
  constexpr std::string_view kTaken[] = {"lock",       "run.json",       "ops.db",     "ops.db-wal",
                                         "ops.db-shm", "ops.db-journal", "caudal.log", "scratch"};
  if (std::find(std::begin(kTaken), std::end(kTaken), pipeline) == std::end(kTaken)) return Status();
  return Status::User(
             fmt::format("'{}' cannot name a pipeline: the folder of the state has a file of its own "
                         "that is called so",
                         pipeline))
      .Hint("give it another name: 'pipeline:' of the file, or the script's file name");
}

}  // namespace

Result<ProgramText> ReadProgram(const std::string& path, const std::string& profile) {
  const std::filesystem::path file(path);
  ProgramText text;
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    if (!profile.empty()) {
      return Status::User(fmt::format("'{}' is a script, which has no profile '{}'", path, profile))
          .Hint("profiles stand in a pipeline file (.yaml)");
    }
    text.name = file.stem().string();
    RETURN_IF_ERROR(CheckFolderIsFree(text.name));
    ASSIGN_OR_RETURN(std::string script, ReadText(file));
    text.sql.push_back({path, std::move(script)});
    return text;
  }
  ASSIGN_OR_RETURN(const std::string yaml, ReadText(file));
  ASSIGN_OR_RETURN(text.file, ParsePipelineFile(yaml, path));
  text.name = text.file->pipeline;
  RETURN_IF_ERROR(CheckFolderIsFree(text.name));
  text.profile = profile;
  std::vector<std::filesystem::path> paths;
  ASSIGN_OR_RETURN(const std::vector<std::string> tables, TableFiles(*text.file, profile));
  for (const std::string& name : tables) paths.push_back(file.parent_path() / name);
  for (const std::string& name : text.file->sql) paths.push_back(file.parent_path() / name);
  if (text.file->sql.empty()) {
    const std::filesystem::path beside = std::filesystem::path(file).replace_extension(".sql");
    std::error_code error;
    // A pipeline file may stand alone; whoever runs it learns which targets nobody writes.
    if (std::filesystem::exists(beside, error)) paths.push_back(beside);
  }
  for (const std::filesystem::path& sql : paths) {
    ASSIGN_OR_RETURN(std::string script, ReadText(sql));
    text.sql.push_back({sql.string(), std::move(script)});
  }
  return text;
}

Program::Program(ProgramText text) : text_(std::move(text)), catalog_(UserConnectors()) {}

Result<std::unique_ptr<Program>> Program::Plan(ProgramText text, const Options& settings,
                                               OutsideChanges changes) {
  std::unique_ptr<Program> program(new Program(std::move(text)));
  program->catalog_.SetSurroundings(ProgramFiles(), Env::Real());
  if (changes == OutsideChanges::kPlanned) program->catalog_.externals().set_plan_only();
  if (program->text_.sql.empty()) return program;
  sql::Session session(&program->catalog_);
  Options wins;  // as SET keeps them
  for (const auto& [key, value] : settings) {
    const auto set = session.Execute(fmt::format("SET '{}' = '{}'", Escaped(key), Escaped(value)));
    if (!set.ok()) return Status::User(set.status().message()).At("--set").Hint(set.status().hint());
    wins[key] = program->catalog_.settings()[key];
  }
  for (const SqlFile& file : program->text_.sql) {
    RETURN_IF_ERROR(AddPathTables(file.text, ProgramFiles(), &program->catalog_));
    Result<std::vector<sql::Outcome>> outcomes = session.Execute(file.text, file.path);
    if (!outcomes.ok()) return std::move(outcomes).status().At(file.path);
    std::move(outcomes->begin(), outcomes->end(), std::back_inserter(program->outcomes_));
  }
  for (sql::Outcome& outcome : program->outcomes_) {
    auto* insert = std::get_if<sql::InsertQuery>(&outcome);
    if (insert == nullptr) continue;
    for (const auto& [key, value] : wins) insert->plan.settings[key] = value;
    RETURN_IF_ERROR(LeaveOutOwnTopics(&insert->plan));
  }
  RETURN_IF_ERROR(program->Check());
  return program;
}

Result<std::vector<std::unique_ptr<Program>>> PlanPrograms(const std::vector<std::string>& paths,
                                                           const std::string& profile,
                                                           const Options& settings, OutsideChanges changes) {
  std::vector<std::unique_ptr<Program>> programs;
  std::map<std::string, std::string> path_of;  // by the pipeline's name
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(ProgramText text, ReadProgram(path, profile));
    const auto [first, is_new] = path_of.try_emplace(text.name, path);
    if (!is_new) {
      return Status::User(fmt::format("'{}' and '{}' are both pipeline '{}'", first->second, path, text.name))
          .Hint(
              "give each its own name, which its checkpoints are found by: 'pipeline:' of the file, or the "
              "script's file name");
    }
    ASSIGN_OR_RETURN(programs.emplace_back(), Program::Plan(std::move(text), settings, changes));
  }
  return programs;
}

std::vector<Plan> Program::Queries() const {
  std::vector<caudal::Plan> queries;
  for (const sql::Outcome& outcome : outcomes_) {
    if (const auto* insert = std::get_if<sql::InsertQuery>(&outcome)) queries.push_back(insert->plan);
  }
  return queries;
}

Status Program::CheckRunnable() const {
  if (text_.sql.empty()) {
    std::string targets;
    for (const auto& [layer, table] : text_.file->targets)
      targets += (targets.empty() ? "'" : ", '") + table.name + "'";
    return Status::User(fmt::format("pipeline '{}' has no SQL: no query writes {}", text_.name,
                                    targets.empty() ? "anything" : targets))
        .Hint("put the SQL beside the pipeline file, under the same name with .sql");
  }
  if (Queries().empty()) {
    return Status::User(fmt::format("'{}' has no query to run", text_.sql.back().path))
        .Hint("add an INSERT INTO, or EXECUTE STATEMENT SET");
  }
  return Status();
}

Status Program::Check() const {
  PipelineQueries queries;
  for (const caudal::Plan& plan : Queries()) {
    queries.checkpoint_names.push_back(plan.query);
    for (const PlanNode& node : plan.nodes) {
      if (const auto* sink = node.as<SinkNode>()) queries.written_tables.push_back(sink->table.name);
      if (const auto* scan = node.as<ScanNode>()) queries.read_tables.push_back(scan->table.name);
    }
  }
  queries.tables = catalog_.TableNames();
  for (const std::string& name : queries.tables) {
    const std::optional<int64_t> delay = WatermarkDelayMillis(*catalog_.FindTable(name));
    if (delay) queries.watermarks.emplace_back(name, *delay);
  }
  // A bare script promises nothing beyond one checkpoint a query.
  if (text_.file) return CheckPipeline(*text_.file, queries);
  PipelineFile promises_nothing;
  promises_nothing.pipeline = text_.name;
  queries.watermarks.clear();
  return CheckPipeline(promises_nothing, queries);
}

std::optional<int64_t> WatermarkDelayMillis(const Table& table) {
  if (!table.watermark) return std::nullopt;
  Expr expr = table.watermark->expr;
  PutTimeZero(&expr);
  const Result<Value> value = EvalConstant(expr);
  const int64_t* ticks = value.ok() ? std::get_if<int64_t>(&value->data) : nullptr;
  if (ticks == nullptr || !expr.type.is_timestamp()) return std::nullopt;
  return -*ticks / (expr.type.ticks_per_second() / 1000);
}

}  // namespace caudal
