#include "expr/function_reference.h"

#include <fmt/format.h>

namespace caudal {

std::string FunctionReference() {
  std::string text = "# Functions\n\nEvery example below is run as a test.\n";
  std::string_view family;
  for (const ScalarFunction& function : ScalarFunctions()) {
    if (function.family != family) {
      family = function.family;
      text += fmt::format("\n## {}\n\n| function | meaning | example | gives |\n|---|---|---|---|\n", family);
    }
    const auto cell = [](std::string_view raw) {
      std::string escaped;
      for (const char c : raw) {
        if (c == '|') escaped += '\\';
        escaped += c;
      }
      return escaped;
    };
    text += fmt::format("| `{}` | {} | `{}` | `{}` |\n", cell(function.name), cell(function.doc),
                        cell(function.example), cell(function.example_result));
  }
  text += "\n## aggregate\n\n| function | meaning | example | gives |\n|---|---|---|---|\n";
  for (const AggregateFunction& function : AggregateFunctions()) {
    text += fmt::format("| `{}` | {} | `{}` | `{}` |\n", function.name, function.doc, function.example,
                        function.example_result);
  }
  return text;
}

}  // namespace caudal
