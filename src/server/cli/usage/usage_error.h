// What is wrong with a command line, in the words of whoever typed it: which command or option there is none
// of, and which was meant; which numbers an option takes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"

namespace CLI {
class App;
}

namespace caudal {

// The first word that names no command or option of `app`; nothing if it knows all of them.
std::optional<Status> FindUnknownWord(const CLI::App& app, std::span<char* const> words);

// A check of an option's text: empty, or that it is no number from `least` to `most`. "nan" is none.
std::function<std::string(const std::string&)> NumberBetween(double least, double most);

}  // namespace caudal
