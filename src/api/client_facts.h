// ClientFacts: what a source or a sink is connected with, name and value, for people: the client library and
// its version, the compression that was agreed on. No secrets, and nothing that the program itself decides
// by.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace caudal {

using ClientFacts = std::vector<std::pair<std::string, std::string>>;

}  // namespace caudal
