// Token: one word, name, literal or symbol of SQL, as the Lexer makes it.
//
// A plain value. `text` is decoded: a string without its quotes and doubled quotes, a quoted name without its
// backquotes, a binary literal as hexadecimal digits, everything else as written.
#pragma once

#include <string>
#include <string_view>

#include "sql/parse/source_text.h"

namespace caudal::sql {

enum class TokenKind {
  kEnd,          // the end of the text
  kWord,         // keyword or name; `keyword` is its upper-case form
  kQuotedName,   // `name`
  kString,       // 'text'
  kBinary,       // X'1F'
  kInteger,      // 12
  kDecimal,      // 1.5
  kApproximate,  // 1.5e3
  kSymbol,       // ( ) , . ; = <> < <= > >= + - * / % || [ ] { } : => /*+ */
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  SourceRange range;
  std::string text;
  std::string keyword;  // only of a kWord

  bool IsKeyword(std::string_view word) const { return kind == TokenKind::kWord && keyword == word; }
  bool IsSymbol(std::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

}  // namespace caudal::sql
