#include "sql/parse/name_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "sql/parse/reserved_words.h"

namespace caudal::sql {

bool NextIsName(const TokenCursor& cursor) {
  const Token& token = cursor.Peek();
  return token.kind == TokenKind::kQuotedName ||
         (token.kind == TokenKind::kWord && !IsReservedWord(token.keyword));
}

Result<Name> ParseName(TokenCursor& cursor, std::string_view expected) {
  if (!NextIsName(cursor)) {
    const Token& token = cursor.Peek();
    if (token.kind != TokenKind::kWord) return cursor.Unexpected(expected);
    return cursor
        .Fail(token.range, fmt::format("unexpected reserved word '{}', expected {}", token.text, expected))
        .Hint(fmt::format("write `{}` in backquotes if it is a name", token.text));
  }
  Token token = cursor.Take();
  return Name{std::move(token.text), token.range};
}

Result<ObjectName> ParseObjectName(TokenCursor& cursor, std::string_view expected) {
  ObjectName object;
  do {
    ASSIGN_OR_RETURN(Name part, ParseName(cursor, expected));
    object.parts.push_back(std::move(part));
  } while (cursor.AcceptSymbol("."));
  object.range = Cover(object.parts.front().range, object.parts.back().range);
  if (object.parts.size() > 3) return cursor.Fail(object.range, "a table name has at most three parts");
  return object;
}

Result<std::vector<Name>> ParseNameList(TokenCursor& cursor, std::string_view expected) {
  std::vector<Name> names;
  RETURN_IF_ERROR(cursor.ExpectSymbol("("));
  do {
    ASSIGN_OR_RETURN(Name name, ParseName(cursor, expected));
    names.push_back(std::move(name));
  } while (cursor.AcceptSymbol(","));
  if (!cursor.AcceptSymbol(")")) return cursor.Unexpected("',' or ')'");
  return names;
}

Result<std::vector<Option>> ParseOptions(TokenCursor& cursor) {
  std::vector<Option> options;
  RETURN_IF_ERROR(cursor.ExpectSymbol("("));
  if (cursor.AcceptSymbol(")")) return options;
  do {
    ASSIGN_OR_RETURN(Token key, cursor.ExpectString("an option name in single quotes"));
    // Which of the two is meant nobody can see.
    if (std::any_of(options.begin(), options.end(),
                    [&](const Option& before) { return before.key == key.text; })) {
      return cursor.Fail(key.range, fmt::format("option '{}' is there twice", key.text))
          .Hint("remove one of them");
    }
    RETURN_IF_ERROR(cursor.ExpectSymbol("="));
    ASSIGN_OR_RETURN(Token value, cursor.ExpectString("an option value in single quotes"));
    options.push_back({std::move(key.text), std::move(value.text), key.range, value.range});
  } while (cursor.AcceptSymbol(","));
  if (!cursor.AcceptSymbol(")")) return cursor.Unexpected("',' or ')'");
  return options;
}

Result<std::vector<Option>> ParseTableHints(TokenCursor& cursor) {
  if (!cursor.AcceptSymbol("/*+")) return std::vector<Option>();
  if (!cursor.AcceptKeyword("OPTIONS")) {
    if (cursor.Peek().kind != TokenKind::kWord) return cursor.Unexpected("the name of a hint");
    return cursor.NotBuilt(fmt::format("the hint {}", cursor.Peek().keyword));
  }
  ASSIGN_OR_RETURN(std::vector<Option> options, ParseOptions(cursor));
  if (!cursor.AcceptSymbol("*/")) return cursor.Unexpected("'*/'");
  return options;
}

namespace {

// One letter missing, added or wrong, or two neighbours exchanged.
bool IsOneSlipAway(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  if (a.size() < b.size()) return a.substr(same) == b.substr(same + 1);
  if (same == a.size()) return false;
  if (a.substr(same + 1) == b.substr(same + 1)) return true;
  return same + 1 < a.size() && a[same] == b[same + 1] && a[same + 1] == b[same] &&
         a.substr(same + 2) == b.substr(same + 2);
}

}  // namespace

std::string_view NearestKeyword(std::string_view word, std::initializer_list<std::string_view> candidates) {
  for (std::string_view candidate : candidates) {
    if (word.size() > 2 && IsOneSlipAway(word, candidate)) return candidate;
  }
  return "";
}

namespace {

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein's distance, without regard to case.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t k = 1; k <= b.size(); ++k) {
      size_t replaced = diagonal + (Lower(a[i - 1]) == Lower(b[k - 1]) ? 0 : 1);
      diagonal = row[k];
      row[k] = std::min({replaced, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& known) {
  std::string nearest;
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  if (name.size() > 100) return nearest;
  for (const std::string& candidate : known) {
    if (candidate.size() > 100) continue;
    size_t distance = Distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

bool IsSlip(std::string_view name, std::string_view meant) {
  const size_t distance = name.size() > 100 ? 100 : Distance(name, meant);
  return distance == 1 || distance == 2;
}

}  // namespace caudal::sql
