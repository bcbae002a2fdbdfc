#include "sql/parse/lexer.h"

#include <gtest/gtest.h>

namespace caudal::sql {
namespace {

// Tokens as "kind:text", or the error.
std::string Lex(std::string text) {
  SourceText source(std::move(text));
  Result<std::vector<Token>> tokens = Tokenize(source);
  if (!tokens.ok()) return tokens.status().ToString();
  static constexpr const char* kKinds[] = {"end", "word", "name",   "string", "binary",
                                           "int", "dec",  "approx", "sym"};
  std::string out;
  for (const Token& token : *tokens) {
    if (token.kind == TokenKind::kEnd) break;
    if (!out.empty()) out += ' ';
    out += std::string(kKinds[static_cast<int>(token.kind)]) + ":" + token.text;
  }
  return out;
}

TEST(LexerTest, SplitsWordsLiteralsAndSymbols) {
  EXPECT_EQ(Lex("SELECT a1, `b ``c` FROM t"), "word:SELECT word:a1 sym:, name:b `c word:FROM word:t");
  EXPECT_EQ(Lex("1 1.5 .5 5. 1e3 1.5E-3"), "int:1 dec:1.5 dec:.5 dec:5. approx:1e3 approx:1.5E-3");
}

TEST(LexerTest, KeepsCaseAndGivesTheKeyword) {
  SourceText source("Select");
  auto tokens = Tokenize(source);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ((*tokens)[0].text, "Select");
  EXPECT_TRUE((*tokens)[0].IsKeyword("SELECT"));
}

TEST(LexerTest, DecodesStrings) {
  EXPECT_EQ(Lex("'it''s' '' 'ä\nb' x'0aF1'"), "string:it's string: string:ä\nb binary:0AF1");
}

TEST(LexerTest, DecodesUnicodeStrings) {
  EXPECT_EQ(Lex("U&'d\\0061 \\00e9 \\+01F600 \\\\'"), "string:da é 😀 \\");
  EXPECT_TRUE(
      Lex("U&'\\12'").starts_with("error[user]: a backslash in U&'…' must be followed by the 4 digits"));
  EXPECT_TRUE(Lex("U&'\\d800'").starts_with("error[user]: a backslash in U&'…'"));
}

TEST(LexerTest, SkipsComments) {
  EXPECT_EQ(Lex("a -- b\n/* c ' */ d // e\n/**/ f"), "word:a word:d word:f");
  EXPECT_EQ(Lex("a*/*c*/b"), "word:a sym:* word:b");
}

TEST(LexerTest, KeepsHints) {
  EXPECT_EQ(Lex("t /*+ OPTIONS('a'='b') */ x"),
            "word:t sym:/*+ word:OPTIONS sym:( string:a sym:= string:b sym:) sym:*/ word:x");
}

TEST(LexerTest, TakesTheLongestSymbol) {
  EXPECT_EQ(Lex("a<=b<>c=>d||e>=f<g"),
            "word:a sym:<= word:b sym:<> word:c sym:=> word:d sym:|| word:e sym:>= word:f sym:< word:g");
}

TEST(LexerTest, NamesWhatIsNotClosed) {
  EXPECT_EQ(Lex("SELECT 'abc"),
            "error[user]: the string is not closed\n"
            "  at line 1, column 8\n"
            "      SELECT 'abc\n"
            "             ^\n"
            "  hint: end it with \"'\"; write '' for a quote inside");
  EXPECT_EQ(Lex("a\n  /* b"),
            "error[user]: the comment is not closed\n"
            "  at line 2, column 3\n"
            "        /* b\n"
            "        ^^\n"
            "  hint: end it with '*/'");
  EXPECT_EQ(Lex("`a"),
            "error[user]: the quoted name is not closed\n"
            "  at line 1, column 1\n"
            "      `a\n"
            "      ^\n"
            "  hint: end it with '`'; write '``' for a backquote inside");
  EXPECT_EQ(Lex("t /*+ OPTIONS("),
            "error[user]: the hint is not closed\n"
            "  at line 1, column 3\n"
            "      t /*+ OPTIONS(\n"
            "        ^^^\n"
            "  hint: end it with '*/'");
}

TEST(LexerTest, RefusesOtherDialects) {
  EXPECT_EQ(Lex("a != b"),
            "error[user]: '!=' is not an operator of Flink's SQL\n"
            "  at line 1, column 3\n"
            "      a != b\n"
            "        ^^\n"
            "  hint: write '<>'");
  EXPECT_EQ(Lex("ä \"b\""),
            "error[user]: unexpected character '\"'\n"
            "  at line 1, column 3\n"
            "      ä \"b\"\n"
            "        ^\n"
            "  hint: a string stands in single quotes, a name in backquotes");
  EXPECT_EQ(Lex("N'x'"),
            "error[user]: a string with the prefix N is not built yet\n"
            "  at line 1, column 1\n"
            "      N'x'\n"
            "      ^^\n"
            "  hint: write the characters themselves between single quotes");
  EXPECT_EQ(Lex("0x1F"),
            "error[user]: '0x1F' is not a number\n"
            "  at line 1, column 1\n"
            "      0x1F\n"
            "      ^^^^\n"
            "  hint: a name that begins with a digit must be in backquotes");
}

TEST(LexerTest, RefusesBadBytes) {
  EXPECT_EQ(Lex("a \x01"),
            "error[user]: unexpected character '\\x01'\n"
            "  at line 1, column 3\n"
            "      a \x01\n"
            "        ^");
  EXPECT_TRUE(Lex("a \xff").starts_with("error[user]: the SQL text is not UTF-8\n  at line 1, column 3\n"));
  EXPECT_EQ(Lex("X'0'"),
            "error[user]: a binary literal must hold an even number of digits\n"
            "  at line 1, column 1\n"
            "      X'0'\n"
            "      ^^^^");
}

TEST(SourceTextTest, CutsLongLinesAndKeepsTabs) {
  SourceText source(std::string(500, 'x') + "\n\ta\tbad\r\nnext", "job.sql");
  EXPECT_EQ(source.Frame({504, 3}), "job.sql line 2, column 4\n      \ta\tbad\n      \t \t^^^");
  std::string frame = source.Frame({300, 2});
  EXPECT_TRUE(frame.starts_with("job.sql line 1, column 301\n      xxx"));
  EXPECT_LT(frame.size(), 260u);
}

}  // namespace
}  // namespace caudal::sql
