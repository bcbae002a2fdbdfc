#include "server/cli/usage/command.h"

#include <CLI/CLI.hpp>

namespace caudal {

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("With --json results and errors are JSON, an object a line.\n\nExamples:\n" + examples);
  return command;
}

void AddProgram(CLI::App* command, const char* what, std::string* program, std::string* profile) {
  command->add_option("--profile", *profile, "of the pipeline file: which table definitions are taken");
  command->add_option("program", *program, what)->required();
}

}  // namespace caudal
