#include "server/cli/explain.h"

#include <fmt/format.h>

#include <filesystem>

#include "server/program.h"
#include "server/row_text.h"
#include "sql/explain.h"

namespace caudal {
namespace {

Result<ProgramText> ReadProgramOrStatement(const std::string& text, const std::string& profile) {
  std::error_code error;
  if (text.find_first_of(" \n\t") == std::string::npos || std::filesystem::exists(text, error))
    return ReadProgram(text, profile);
  ProgramText program;
  program.name = "statement";
  program.sql.push_back({"statement", text});
  return program;
}

}  // namespace

int Explain(const ExplainCommand& command, Console& console) {
  Result<ProgramText> text = ReadProgramOrStatement(command.path, command.profile);
  if (!text.ok()) return console.Fail(text.status(), RefusalCode(text.status()));
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return console.Fail(program.status(), RefusalCode(program.status()));
  for (const sql::Outcome& outcome : (*program)->outcomes()) {
    const Plan* plan = nullptr;
    if (const auto* insert = std::get_if<sql::InsertQuery>(&outcome)) plan = &insert->plan;
    if (const auto* select = std::get_if<sql::SelectQuery>(&outcome)) plan = &select->plan;
    if (plan == nullptr) continue;
    const std::string shown = sql::ExplainPlan(*plan, command.changelog);
    const std::string name = plan->query.empty() ? "select" : plan->query;
    console.Out(console.json
                    ? fmt::format("{{\"query\": {}, \"plan\": {}}}\n", JsonQuoted(name), JsonQuoted(shown))
                    : fmt::format("== {} ==\n{}{}\n", name, shown, shown.ends_with('\n') ? "" : "\n"));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
