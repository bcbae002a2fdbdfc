#include "server/program.h"

#include <fmt/format.h>

#include <filesystem>

#include "expr/evaluator.h"
#include "fs/file_system.h"
#include "server/connectors.h"
#include "server/path_tables.h"

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

// The column's value at time 0: what is left of the expression is the delay.
void PutTimeZero(Expr* expr) {
  if (expr->kind == Expr::Kind::kColumn) *expr = Expr::Literal(expr->type, Value(int64_t{0}));
  for (Expr& arg : expr->args) PutTimeZero(&arg);
}

}  // namespace

Result<ProgramText> ReadProgram(const std::string& path) {
  const std::filesystem::path file(path);
  ProgramText text;
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    text.name = file.stem().string();
    text.sql_path = path;
    ASSIGN_OR_RETURN(text.script, ReadText(file));
    return text;
  }
  ASSIGN_OR_RETURN(const std::string yaml, ReadText(file));
  ASSIGN_OR_RETURN(text.file, ParsePipelineFile(yaml, path));
  text.name = text.file->pipeline;
  std::filesystem::path sql = file.parent_path() / text.file->sql;
  if (text.file->sql.empty()) sql = std::filesystem::path(file).replace_extension(".sql");
  std::error_code error;
  // A pipeline file may stand alone; whoever runs it learns which targets nobody writes.
  if (text.file->sql.empty() && !std::filesystem::exists(sql, error)) return text;
  text.sql_path = sql.string();
  ASSIGN_OR_RETURN(text.script, ReadText(sql));
  return text;
}

Program::Program(ProgramText text) : text_(std::move(text)), catalog_(UserConnectors()) {}

Result<std::unique_ptr<Program>> Program::Plan(ProgramText text, const Options& settings) {
  std::unique_ptr<Program> program(new Program(std::move(text)));
  if (program->text_.sql_path.empty()) return program;
  RETURN_IF_ERROR(AddPathTables(program->text_.script, FileSystem::Local(), &program->catalog_));
  for (const auto& [key, value] : settings) program->catalog_.settings()[key] = value;
  sql::Session session(&program->catalog_);
  Result<std::vector<sql::Outcome>> outcomes = session.Execute(program->text_.script);
  if (!outcomes.ok()) return std::move(outcomes).status().At(program->text_.sql_path);
  program->outcomes_ = std::move(outcomes).value();
  for (sql::Outcome& outcome : program->outcomes_) {
    auto* insert = std::get_if<sql::InsertQuery>(&outcome);
    for (const auto& [key, value] : settings) {
      if (insert != nullptr) insert->plan.settings[key] = value;
    }
  }
  RETURN_IF_ERROR(program->Check());
  return program;
}

std::vector<Plan> Program::Queries() const {
  std::vector<caudal::Plan> queries;
  for (const sql::Outcome& outcome : outcomes_) {
    if (const auto* insert = std::get_if<sql::InsertQuery>(&outcome)) queries.push_back(insert->plan);
  }
  return queries;
}

Status Program::Check() const {
  PipelineQueries queries;
  for (const caudal::Plan& plan : Queries()) {
    queries.checkpoint_names.push_back(plan.query);
    for (const PlanNode& node : plan.nodes) {
      if (const auto* sink = node.as<SinkNode>()) queries.written_tables.push_back(sink->table.name);
    }
  }
  for (const std::string& name : catalog_.TableNames()) {
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
