#include "server/cli/lake/for_each_table.h"

namespace caudal {

int ForEachTable(const TableCommand& command, Console& console,
                 const std::function<int(const LakeTable&)>& each) {
  const auto refuse = [&](const Status& status) { return console.Fail(status, RefusalCode(status)); };
  Result<ProgramText> text = ReadProgram(command.program, command.profile);
  if (!text.ok()) return refuse(text.status());
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return refuse(program.status());
  const Result<std::vector<LakeTable>> tables = OpenLakeTables(**program, command.tables);
  if (!tables.ok()) return refuse(tables.status());
  for (const LakeTable& table : *tables) {
    const int code = each(table);
    if (code != static_cast<int>(ExitCode::kOk)) return code;
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
