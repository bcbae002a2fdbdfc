// TokenCursor: a place in the tokens of one text, with the questions that a parser asks there.
//
// Holds the tokens; refers to the SourceText, which must outlive it. One thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "sql/parse/source_text.h"
#include "sql/parse/token.h"

namespace caudal::sql {

class TokenCursor {
 public:
  // REQUIRES: `tokens` ends with a kEnd.
  TokenCursor(const SourceText& source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  const SourceText& source() const { return source_; }
  // The token `ahead` of the next one; kEnd for all beyond the end.
  const Token& Peek(size_t ahead = 0) const;
  Token Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }

  bool NextIsKeyword(std::string_view word) const { return Peek().IsKeyword(word); }
  bool NextIsSymbol(std::string_view symbol) const { return Peek().IsSymbol(symbol); }
  bool NextAreKeywords(std::initializer_list<std::string_view> words) const;

  // Take the token if it is the one asked for.
  bool AcceptKeyword(std::string_view word);
  bool AcceptSymbol(std::string_view symbol);
  // All or none.
  bool AcceptKeywords(std::initializer_list<std::string_view> words);

  Status ExpectKeyword(std::string_view word);
  Status ExpectSymbol(std::string_view symbol);
  Result<Token> ExpectString(std::string_view expected);
  Result<int> ExpectSmallInteger(std::string_view expected);

  // From `begin` to the end of the token taken last.
  SourceRange RangeFrom(SourceRange begin) const;
  SourceRange last_range() const { return at_ == 0 ? SourceRange{} : tokens_[at_ - 1].range; }

  // "unexpected 'x', expected <expected>" at the next token.
  Status Unexpected(std::string_view expected) const;
  Status Fail(SourceRange range, std::string message) const {
    return ErrorAt(source_, range, std::move(message));
  }
  Status NotBuilt(SourceRange range, std::string_view what) const { return NotBuiltAt(source_, range, what); }
  Status NotBuilt(std::string_view what) const { return NotBuiltAt(source_, Peek().range, what); }

 private:
  const SourceText& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// "'abc'", "the end of the text": how a message names a token.
std::string TokenText(const Token& token);

}  // namespace caudal::sql
