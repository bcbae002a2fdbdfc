// The lexer of Flink's dialect: SQL text to tokens.
//
// Comments (`--`, `//`, `/* */`) and white space vanish; a hint `/*+ … */` stays, as the symbols "/*+" and
// "*/" around its ordinary tokens. Pure function, any thread.
#pragma once

#include <vector>

#include "base/status.h"
#include "sql/parse/source_text.h"
#include "sql/parse/token.h"

namespace caudal::sql {

// The last token is kEnd. Fails, with the position, on an unterminated literal or comment, a malformed
// number, a character that no token begins with, and text that is not UTF-8.
Result<std::vector<Token>> Tokenize(const SourceText& source);

}  // namespace caudal::sql
