#include "sql/parse/token_cursor.h"

#include <fmt/format.h>

#include <charconv>

namespace caudal::sql {

const Token& TokenCursor::Peek(size_t ahead) const {
  return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : tokens_.back();
}

bool TokenCursor::NextAreKeywords(std::initializer_list<std::string_view> words) const {
  size_t ahead = 0;
  for (std::string_view word : words) {
    if (!Peek(ahead++).IsKeyword(word)) return false;
  }
  return true;
}

bool TokenCursor::AcceptKeyword(std::string_view word) {
  if (!NextIsKeyword(word)) return false;
  ++at_;
  return true;
}

bool TokenCursor::AcceptSymbol(std::string_view symbol) {
  if (!NextIsSymbol(symbol)) return false;
  ++at_;
  return true;
}

bool TokenCursor::AcceptKeywords(std::initializer_list<std::string_view> words) {
  if (!NextAreKeywords(words)) return false;
  at_ += words.size();
  return true;
}

Status TokenCursor::ExpectKeyword(std::string_view word) {
  return AcceptKeyword(word) ? Status() : Unexpected(word);
}

Status TokenCursor::ExpectSymbol(std::string_view symbol) {
  return AcceptSymbol(symbol) ? Status() : Unexpected(fmt::format("'{}'", symbol));
}

Result<Token> TokenCursor::ExpectString(std::string_view expected) {
  if (Peek().kind != TokenKind::kString) return Unexpected(expected);
  return Take();
}

Result<int> TokenCursor::ExpectSmallInteger(std::string_view expected) {
  if (Peek().kind != TokenKind::kInteger) return Unexpected(expected);
  Token token = Take();
  int value = 0;
  auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc() || end != token.text.data() + token.text.size()) {
    return Fail(token.range, fmt::format("{} is out of range: '{}'", expected, token.text));
  }
  return value;
}

SourceRange TokenCursor::RangeFrom(SourceRange begin) const {
  return at_ == 0 ? begin : Cover(begin, last_range());
}

Status TokenCursor::Unexpected(std::string_view expected) const {
  return Fail(Peek().range, fmt::format("unexpected {}, expected {}", TokenText(Peek()), expected));
}

std::string TokenText(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "end of the text";
    case TokenKind::kString:
      return token.text.size() <= 40 ? fmt::format("string '{}'", token.text) : "string";
    case TokenKind::kBinary:
      return "binary literal";
    case TokenKind::kQuotedName:
      return fmt::format("'`{}`'", token.text);
    default:
      return fmt::format("'{}'", token.text);
  }
}

}  // namespace caudal::sql
