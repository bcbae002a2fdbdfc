#include "server/cli/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "expr/aggregate_function.h"
#include "expr/function_reference.h"
#include "expr/scalar_function.h"
#include "server/row_text.h"

namespace caudal {
namespace {

struct Entry {
  std::string_view name, family, doc, example, result;
};

std::vector<Entry> AllFunctions() {
  std::vector<Entry> entries;
  for (const ScalarFunction& function : ScalarFunctions()) {
    entries.push_back(
        {function.name, function.family, function.doc, function.example, function.example_result});
  }
  for (const AggregateFunction& function : AggregateFunctions()) {
    entries.push_back({function.name, "aggregate", function.doc, function.example, function.example_result});
  }
  return entries;
}

// "- `name`: …" lines and columns, without the marks of a page.
std::string Plain(std::string_view markdown) {
  std::string plain;
  for (const char c : markdown) {
    if (c != '`') plain += c;
    if (c == '\n') plain += "  ";
  }
  while (plain.ends_with(' ') || plain.ends_with('\n')) plain.pop_back();
  return plain;
}

std::string TableFunctionText(const TableFunctionReference& function, bool json) {
  if (json) {
    return fmt::format(
        "{{\"name\": {}, \"family\": \"table function\", \"call\": {}, \"doc\": {}, \"arguments\": {}, "
        "\"output\": {}, "
        "\"example\": {}}}\n",
        JsonQuoted(function.name), JsonQuoted(function.call), JsonQuoted(function.doc),
        JsonQuoted(Plain(function.arguments)), JsonQuoted(Plain(function.output)),
        JsonQuoted(function.example));
  }
  return fmt::format("{} (table function)\n  {}\n  {}\n  {}\n  {}\n  {}\n", function.name, function.call,
                     function.doc, Plain(function.arguments), Plain(function.output),
                     Plain(function.example));
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

int PrintFunctions(const FunctionsCommand& command, Console& console) {
  std::vector<Entry> entries = AllFunctions();
  const std::string wanted = Upper(command.name);
  std::erase_if(entries,
                [&](const Entry& entry) { return entry.name.find(wanted) == std::string_view::npos; });
  if (command.markdown) {
    console.Out(FunctionReference());
    return static_cast<int>(ExitCode::kOk);
  }
  for (const Entry& entry : entries) {
    console.Out(
        console.json
            ? fmt::format("{{\"name\": {}, \"family\": {}, \"doc\": {}, \"example\": {}, \"result\": {}}}\n",
                          JsonQuoted(entry.name), JsonQuoted(entry.family), JsonQuoted(entry.doc),
                          JsonQuoted(entry.example), JsonQuoted(entry.result))
            : fmt::format("{} ({})\n  {}\n  {} = {}\n", entry.name, entry.family, entry.doc, entry.example,
                          entry.result));
  }
  bool found = !entries.empty();
  for (const TableFunctionReference& function : TableFunctions()) {
    if (function.name.find(wanted) == std::string_view::npos) continue;
    found = true;
    console.Out(TableFunctionText(function, console.json));
  }
  if (!found) {
    return console.Fail(Status::User(fmt::format("no function's name contains '{}'", command.name)),
                        ExitCode::kUsage);
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
