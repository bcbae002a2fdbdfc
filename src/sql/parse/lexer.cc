#include "sql/parse/lexer.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace caudal::sql {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
// Any code point beyond ASCII may stand in a name, as in Flink.
bool BeginsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool ContinuesWord(char c) { return BeginsWord(c) || IsDigit(c); }

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Bytes of the UTF-8 sequence that begins with `first`; 0 if no sequence begins so.
size_t SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

void AppendUtf8(uint32_t code, std::string* out) {
  auto push = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xE0 | code >> 12);
    } else {
      push(0xF0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3F));
    }
    push(0x80 | (code >> 6 & 0x3F));
  }
  push(0x80 | (code & 0x3F));
}

// Offset of the first byte that is not UTF-8.
std::optional<size_t> FindInvalidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = SequenceLength(static_cast<unsigned char>(text[i]));
    if (length == 0 || i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    }
    i += length;
  }
  return std::nullopt;
}

// Longest first: a symbol must not hide a longer one.
constexpr std::array<std::string_view, 24> kSymbols = {"=>", "<>", "<=", ">=", "||", "(", ")", ",",
                                                       ".",  ";",  "=",  "<",  ">",  "+", "-", "*",
                                                       "/",  "%",  "[",  "]",  "{",  "}", ":", "?"};

class Lexer {
 public:
  explicit Lexer(const SourceText& source) : source_(source), text_(source.text()) {}

  Result<std::vector<Token>> Run() {
    if (text_.size() > UINT32_MAX / 2) return Status::User("the SQL text is larger than 2 GiB");
    if (auto bad = FindInvalidUtf8(text_)) return Fail(*bad, *bad + 1, "the SQL text is not UTF-8");
    while (true) {
      RETURN_IF_ERROR(SkipBlank());
      if (at_ == text_.size()) break;
      RETURN_IF_ERROR(ScanToken());
    }
    if (in_hint_)
      return Fail(hint_begin_, hint_begin_ + 3, "the hint is not closed").Hint("end it with '*/'");
    tokens_.push_back({TokenKind::kEnd, {static_cast<uint32_t>(at_), 0}, "", ""});
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool StartsWith(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }

  Status Fail(size_t begin, size_t end, std::string message) const {
    return ErrorAt(source_, {static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin)},
                   std::move(message));
  }

  void Add(TokenKind kind, size_t begin, std::string text, std::string keyword = "") {
    SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_ - begin)};
    tokens_.push_back({kind, range, std::move(text), std::move(keyword)});
  }

  Status SkipBlank() {
    while (at_ < text_.size()) {
      if (IsSpace(text_[at_])) {
        ++at_;
      } else if (StartsWith("--") || StartsWith("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (StartsWith("/*") && Peek(2) != '+') {
        size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          return Fail(at_, at_ + 2, "the comment is not closed").Hint("end it with '*/'");
        }
        at_ = end + 2;
      } else {
        break;
      }
    }
    return Status();
  }

  Status ScanToken() {
    char c = Peek();
    if (c == '\'') return ScanQuoted(at_, TokenKind::kString);
    if (c == '`') return ScanQuoted(at_, TokenKind::kQuotedName);
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return ScanNumber();
    if (BeginsWord(c)) return ScanWord();
    return ScanSymbol();
  }

  // A quote doubled inside stands for itself.
  Status ScanQuoted(size_t begin, TokenKind kind) {
    char quote = Peek();
    std::string decoded;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (Peek(1) != quote) break;
        ++at_;
      }
      decoded += text_[at_];
    }
    bool name = kind == TokenKind::kQuotedName;
    if (at_ == text_.size()) {
      return Fail(begin, begin + 1, name ? "the quoted name is not closed" : "the string is not closed")
          .Hint(name ? "end it with '`'; write '``' for a backquote inside"
                     : "end it with \"'\"; write '' for a quote inside");
    }
    ++at_;
    if (name && decoded.empty()) return Fail(begin, at_, "a quoted name must not be empty");
    Add(kind, begin, std::move(decoded));
    return Status();
  }

  Status ScanNumber() {
    size_t begin = at_;
    TokenKind kind = TokenKind::kInteger;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.') {
      kind = TokenKind::kDecimal;
      for (++at_; IsDigit(Peek());) ++at_;
    }
    if (Upper(Peek()) == 'E') {
      size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if (IsDigit(Peek(1 + sign))) {
        kind = TokenKind::kApproximate;
        for (at_ += 1 + sign; IsDigit(Peek());) ++at_;
      }
    }
    if (ContinuesWord(Peek())) {
      while (ContinuesWord(Peek())) ++at_;
      return Fail(begin, at_, fmt::format("'{}' is not a number", text_.substr(begin, at_ - begin)))
          .Hint("a name that begins with a digit must be in backquotes");
    }
    Add(kind, begin, std::string(text_.substr(begin, at_ - begin)));
    return Status();
  }

  Status ScanWord() {
    size_t begin = at_;
    while (ContinuesWord(Peek())) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    std::string keyword = word;
    for (char& c : keyword) c = Upper(c);
    if (Peek() == '\'') {
      if (keyword == "X") return ScanBinary(begin);
      if (keyword == "E" || keyword == "N" || keyword == "B") {
        return Fail(begin, at_ + 1, fmt::format("a string with the prefix {} is not built yet", keyword))
            .Hint("write the characters themselves between single quotes");
      }
    }
    if (keyword == "U" && StartsWith("&'")) return ScanUnicode(begin);
    Add(TokenKind::kWord, begin, std::move(word), std::move(keyword));
    return Status();
  }

  // U&'caf\\00e9 \\+01F600': a backslash and 4 or, after a plus, 6 hexadecimal digits.
  Status ScanUnicode(size_t begin) {
    ++at_;
    RETURN_IF_ERROR(ScanQuoted(begin, TokenKind::kString));
    std::string& text = tokens_.back().text;
    std::string decoded;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        decoded += text[i];
        continue;
      }
      if (i + 1 < text.size() && text[i + 1] == '\\') {
        decoded += text[++i];
        continue;
      }
      const bool wide = i + 1 < text.size() && text[i + 1] == '+';
      const size_t digits = wide ? 6 : 4;
      const size_t first = i + 1 + (wide ? 1 : 0);
      uint32_t code = 0;
      size_t k = first;
      for (; k < text.size() && k < first + digits && IsHex(text[k]); ++k) {
        const char digit = Upper(text[k]);
        code = code * 16 + static_cast<uint32_t>(IsDigit(digit) ? digit - '0' : digit - 'A' + 10);
      }
      if (k < first + digits || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return Fail(begin, at_, "a backslash in U&'…' must be followed by the 4 digits of a character")
            .Hint("write U&'\\00e9', or two backslashes for one");
      }
      AppendUtf8(code, &decoded);
      i = k - 1;
    }
    text = std::move(decoded);
    return Status();
  }

  Status ScanBinary(size_t begin) {
    RETURN_IF_ERROR(ScanQuoted(begin, TokenKind::kBinary));
    std::string& digits = tokens_.back().text;
    for (char& c : digits) {
      if (!IsHex(c)) return Fail(begin, at_, "a binary literal may only hold hexadecimal digits");
      c = Upper(c);
    }
    if (digits.size() % 2 != 0)
      return Fail(begin, at_, "a binary literal must hold an even number of digits");
    return Status();
  }

  Status ScanSymbol() {
    size_t begin = at_;
    if (StartsWith("/*+")) {
      if (in_hint_) return Fail(at_, at_ + 3, "a hint must not hold another hint");
      in_hint_ = true;
      hint_begin_ = at_;
      at_ += 3;
      Add(TokenKind::kSymbol, begin, "/*+");
      return Status();
    }
    if (in_hint_ && StartsWith("*/")) {
      in_hint_ = false;
      at_ += 2;
      Add(TokenKind::kSymbol, begin, "*/");
      return Status();
    }
    RETURN_IF_ERROR(RefuseForeign());
    for (std::string_view symbol : kSymbols) {
      if (!StartsWith(symbol)) continue;
      at_ += symbol.size();
      Add(TokenKind::kSymbol, begin, std::string(symbol));
      return Status();
    }
    return Fail(at_, at_ + 1, fmt::format("unexpected character '{}'", Printable(Peek())));
  }

  // Words of other dialects that Flink refuses too, with what to write instead.
  Status RefuseForeign() const {
    if (StartsWith("!="))
      return Fail(at_, at_ + 2, "'!=' is not an operator of Flink's SQL").Hint("write '<>'");
    if (StartsWith("=="))
      return Fail(at_, at_ + 2, "'==' is not an operator of Flink's SQL").Hint("write '='");
    if (StartsWith("::"))
      return Fail(at_, at_ + 2, "'::' is not an operator of Flink's SQL").Hint("write CAST(x AS type)");
    if (Peek() == '"') {
      return Fail(at_, at_ + 1, "unexpected character '\"'")
          .Hint("a string stands in single quotes, a name in backquotes");
    }
    return Status();
  }

  static std::string Printable(char c) {
    if (c > ' ' && c < 0x7F) return std::string(1, c);
    return fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_ = 0;
  bool in_hint_ = false;
  size_t hint_begin_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> Tokenize(const SourceText& source) { return Lexer(source).Run(); }

}  // namespace caudal::sql
