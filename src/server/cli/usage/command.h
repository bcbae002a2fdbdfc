// What every command of the command line is made of: its words, and what it does once they are parsed.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace caudal {

class Console;

using Action = std::function<int(Console&)>;

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples);
// A pipeline file or script, and which of the file's table definitions are meant. Both live as long as
// `command`.
void AddProgram(CLI::App* command, const char* what, std::string* program, std::string* profile);

}  // namespace caudal
