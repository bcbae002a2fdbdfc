// Words that Flink's SQL reserves: they are names only in backquotes.
#pragma once

#include <string_view>

namespace caudal::sql {

// `keyword` in upper case. The list is what the parser of Flink 2.3 answers.
bool IsReservedWord(std::string_view keyword);

// Reserved words that may still stand before '(' as the name of a function: COUNT, LEFT, HOUR, …
bool IsReservedFunctionName(std::string_view keyword);

// Reserved words that are functions without parentheses: CURRENT_TIMESTAMP, …
bool IsContextFunction(std::string_view keyword);

}  // namespace caudal::sql
