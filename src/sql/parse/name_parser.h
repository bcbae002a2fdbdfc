// Names and option lists: the small pieces that all statements share.
//
// Each function takes its piece from the cursor or answers with the error at the token that does not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/parse/token_cursor.h"

namespace caudal::sql {

// Whether the next token can be a name: a quoted name or a word that is not reserved.
bool NextIsName(const TokenCursor& cursor);

// `expected` says what kind of name, for the message: "a column name".
Result<Name> ParseName(TokenCursor& cursor, std::string_view expected);

// a.b.c
Result<ObjectName> ParseObjectName(TokenCursor& cursor, std::string_view expected);

// (a, b, c), at least one.
Result<std::vector<Name>> ParseNameList(TokenCursor& cursor, std::string_view expected);

// ('key' = 'value', …), maybe empty.
Result<std::vector<Option>> ParseOptions(TokenCursor& cursor);

// /*+ OPTIONS(…) */ if it stands next, else nothing; other hints are refused by name.
Result<std::vector<Option>> ParseTableHints(TokenCursor& cursor);

// The word among `candidates` that `word` is a slip of the keyboard away from, or "".
std::string_view NearestKeyword(std::string_view word, std::initializer_list<std::string_view> candidates);

// The known name nearest to `name` (without regard to case, at most a third of its letters away), or "".
std::string NearestName(std::string_view name, const std::vector<std::string>& known);
// Whether the two differ by one or two letters: a slip of the keyboard.
bool IsSlip(std::string_view name, std::string_view meant);

}  // namespace caudal::sql
