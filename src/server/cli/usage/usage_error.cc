#include "server/cli/usage/usage_error.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

#include "sql/parse/name_parser.h"

namespace caudal {
namespace {

Status Unknown(std::string_view what, const std::string& word, const std::vector<std::string>& known,
               const std::string& help) {
  const std::string meant = sql::NearestName(word, known);
  return Status::User(fmt::format("there is no {} '{}'", what, word))
      .Hint(meant.empty() ? fmt::format("{} --help lists them", help)
                          : fmt::format("did you mean '{}'?", meant));
}

// An option of one of the commands, the innermost last.
bool Knows(const std::vector<const CLI::App*>& commands, const std::string& option) {
  for (const CLI::App* command : commands) {
    if (command->get_option_no_throw(option) != nullptr) return true;
  }
  return false;
}

std::vector<std::string> OptionNames(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

}  // namespace

std::optional<Status> FindUnknownWord(const CLI::App& app, std::span<char* const> words) {
  std::vector<const CLI::App*> commands = {&app};
  std::string called = app.get_name();
  for (const char* text : words) {
    const std::string word = text;
    if (word == "--") break;
    const auto below = commands.back()->get_subcommands([](const CLI::App*) { return true; });
    if (word.starts_with("--")) {
      const std::string option = word.substr(0, word.find('='));
      if (Knows(commands, option)) continue;
      if (Knows({below.begin(), below.end()}, option)) return std::nullopt;  // too early, not unknown
      return Unknown("option", option, OptionNames(commands), called);
    }
    if (below.empty() || word.starts_with('-')) continue;
    std::vector<std::string> names;
    const CLI::App* chosen = nullptr;
    for (const CLI::App* one : below) {
      names.push_back(one->get_name());
      if (one->get_name() == word) chosen = one;
    }
    if (chosen == nullptr) return Unknown("command", word, names, called);
    commands.push_back(chosen);
    called += " " + word;
  }
  return std::nullopt;
}

std::function<std::string(const std::string&)> NumberBetween(double least, double most) {
  return [least, most](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    return is_number && value >= least && value <= most
               ? std::string()
               : fmt::format("'{}' is not between {:.0f} and {:.0f}", text, least, most);
  };
}

}  // namespace caudal
