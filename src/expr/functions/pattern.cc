// Patterns: LIKE, SIMILAR TO and the regular expression functions (RE2: linear time on any input; look-around
// and back references are refused by name).
#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>
#include <unordered_map>

#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;

// --- LIKE
// ----------------------------------------------------------------------------------------------------

// A LIKE pattern split at its '%': pieces that must follow each other. In a piece the byte kAnyCharacter
// stands for '_'; it is no byte of UTF-8.
constexpr char kAnyCharacter = static_cast<char>(0xFF);

struct LikePattern {
  std::vector<std::string> pieces;  // at least one; between two of them stands a '%'
  bool wildcards = false;           // a piece holds kAnyCharacter
};

bool ParseLike(std::string_view text, std::string_view escape, LikePattern* pattern) {
  pattern->pieces.assign(1, "");
  pattern->wildcards = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!escape.empty() && text.substr(i).starts_with(escape)) {
      i += escape.size();
      const bool known =
          i < text.size() && (text[i] == '%' || text[i] == '_' || text.substr(i).starts_with(escape));
      if (!known) return false;
      pattern->pieces.back() += text[i];
    } else if (text[i] == '%') {
      pattern->pieces.emplace_back();
    } else if (text[i] == '_') {
      pattern->pieces.back() += kAnyCharacter;
      pattern->wildcards = true;
    } else {
      pattern->pieces.back() += text[i];
    }
  }
  return true;
}

// Bytes of `text` that `piece` matches at its start; npos if it does not.
size_t MatchPiece(std::string_view text, std::string_view piece) {
  size_t at = 0;
  for (const char c : piece) {
    if (at >= text.size()) return std::string_view::npos;
    if (c == kAnyCharacter) {
      at += CharacterOffset(text.substr(at), 1);
    } else if (text[at++] != c) {
      return std::string_view::npos;
    }
  }
  return at;
}

size_t FindPiece(std::string_view text, std::string_view piece, bool wildcards, size_t* size) {
  if (!wildcards) {
    *size = piece.size();
    return text.find(piece);
  }
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && IsContinuation(text[at])) continue;
    *size = MatchPiece(text.substr(at), piece);
    if (*size != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// The leftmost match of each middle piece is enough; the last piece must reach the end.
bool MatchLike(std::string_view text, const LikePattern& pattern) {
  const size_t first = MatchPiece(text, pattern.pieces.front());
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  if (pattern.pieces.size() == 1) return text.empty();
  for (size_t i = 1; i + 1 < pattern.pieces.size(); ++i) {
    size_t size = 0;
    const size_t at = FindPiece(text, pattern.pieces[i], pattern.wildcards, &size);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + size);
  }
  const std::string& last = pattern.pieces.back();
  if (!pattern.wildcards) return text.ends_with(last);
  const int64_t skip = CharacterCount(text) - CharacterCount(last);  // kAnyCharacter counts as a character
  if (skip < 0) return false;
  const std::string_view tail = text.substr(CharacterOffset(text, skip));
  return MatchPiece(tail, last) == tail.size();
}

ColumnPtr LikeKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  const TextView patterns(*call.args[1]);
  const bool has_escape = call.args.size() == 3;
  const TextView escapes(*call.args[has_escape ? 2 : 1]);
  const bool constant = call.args[1]->encoding() == Encoding::kConstant &&
                        (!has_escape || call.args[2]->encoding() == Encoding::kConstant);
  LikePattern pattern;
  bool parsed = false;
  bool valid = true;
  ForEachRow(call.rows, [&](int32_t row) {
    if (!parsed || !constant) {
      valid = ParseLike(patterns[row].view(), has_escape ? escapes[row].view() : "", &pattern);
      parsed = true;
    }
    if (valid) return out.Set(row, MatchLike(texts[row].view(), pattern));
    call.errors.Add(row, fmt::format("the pattern '{}' ends or goes on wrongly after its escape character",
                                     patterns[row].view()));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

// --- regular expressions
// -------------------------------------------------------------------------------------

// Compiled patterns of this thread; one that does not compile is kept too.
const RE2& Compiled(const std::string& pattern) {
  constexpr size_t kKept = 256;
  thread_local std::unordered_map<std::string, std::unique_ptr<RE2>> cache;
  const auto found = cache.find(pattern);
  if (found != cache.end()) return *found->second;
  if (cache.size() >= kKept) cache.clear();
  RE2::Options options;
  options.set_log_errors(false);
  return *cache.emplace(pattern, std::make_unique<RE2>(pattern, options)).first->second;
}

std::string NotExpressible(const RE2& regex) {
  return fmt::format("the regular expression '{}' cannot be used: {}", regex.pattern(), regex.error());
}

// A literal pattern is tried when the call is bound.
Status CheckLiteral(std::span<const Value* const> literals, size_t index) {
  if (literals.size() <= index || literals[index] == nullptr) return Status();
  const std::string* text = std::get_if<std::string>(&literals[index]->data);
  if (text == nullptr || Compiled(*text).ok()) return Status();
  return Status::User(NotExpressible(Compiled(*text)))
      .Hint("look-around and back references are not built: write the pattern without them");
}

template <SignatureText kPattern>
Result<Signature> RegexSignature(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature(kPattern.text, args));
  RETURN_IF_ERROR(CheckLiteral(literals, 1));
  return signature;
}

// The compiled pattern of a row; null when it does not compile, which is reported.
const RE2* RegexOf(KernelCall& call, const TextView& patterns, int32_t row) {
  const RE2& regex = Compiled(patterns[row].ToString());
  if (regex.ok()) return &regex;
  call.errors.Add(row, NotExpressible(regex));
  return nullptr;
}

// `f(row, const RE2&)` for every row whose pattern compiles; `on_error(row)` for the others.
template <typename F, typename E>
void ForEachRegex(KernelCall& call, F f, E on_error) {
  const TextView patterns(*call.args[1]);
  const bool constant = call.args[1]->encoding() == Encoding::kConstant;
  const RE2* regex = nullptr;
  ForEachRow(call.rows, [&](int32_t row) {
    if (regex == nullptr || !constant) regex = RegexOf(call, patterns, row);
    if (regex != nullptr) return f(row, *regex);
    on_error(row);
  });
}

ColumnPtr RegexpKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ForEachRegex(
      call,
      [&](int32_t row, const RE2& regex) {
        const re2::StringPiece text(texts[row].data(), texts[row].size());
        out.Set(row,
                !regex.pattern().empty() && RE2::PartialMatch(text, regex));  // Flink: '' matches nothing
      },
      [&](int32_t row) { out.SetNull(row); });
  return out.Finish(call.expr.type);
}

ColumnPtr RegexpReplaceKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const TextView texts(*call.args[0]);
  const TextView replacements(*call.args[2]);
  ForEachRegex(
      call,
      [&](int32_t row, const RE2& regex) {
        std::string text = texts[row].ToString();
        std::string replacement;  // taken as it stands, as in Flink
        for (const char c : replacements[row].view()) {
          if (c == '\\') replacement += '\\';
          replacement += c;
        }
        RE2::GlobalReplace(&text, regex, replacement);
        out.Set(row, text);
      },
      [&](int32_t row) { out.SetNull(row); });
  return out.Finish(call.expr.type);
}

ColumnPtr RegexpExtractKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const TextView texts(*call.args[0]);
  const bool given = call.args.size() == 3;
  const ColumnView<int32_t> groups(*call.args[given ? 2 : 0]);
  std::vector<re2::StringPiece> matches;
  ForEachRegex(
      call,
      [&](int32_t row, const RE2& regex) {
        const int32_t group = given ? groups[row] : 0;
        if (group < 0 || group > regex.NumberOfCapturingGroups()) return out.SetNull(row);
        matches.resize(static_cast<size_t>(group) + 1);
        const StringView& text = texts[row];
        const re2::StringPiece whole(text.data(), text.size());
        if (!regex.Match(whole, 0, text.size(), RE2::UNANCHORED, matches.data(), group + 1) ||
            matches.back().data() == nullptr) {
          return out.SetNull(row);
        }
        out.Share(row, std::string_view(matches.back().data(), matches.back().size()));
      },
      [&](int32_t row) { out.SetNull(row); });
  return out.Finish(call.expr.type);
}

// SQL's regular expression as RE2's: % is any run, _ any character, the rest is alike.
std::string SimilarToRegex(std::string_view pattern) {
  std::string regex = "(?s)^(?:";
  for (const char c : pattern) {
    if (c == '%') {
      regex += ".*";
    } else if (c == '_') {
      regex += '.';
    } else if (c == '.' || c == '^' || c == '$' || c == '\\') {
      (regex += '\\') += c;
    } else {
      regex += c;
    }
  }
  return regex + ")$";
}

ColumnPtr SimilarKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  const TextView patterns(*call.args[1]);
  const bool constant = call.args[1]->encoding() == Encoding::kConstant;
  const RE2* regex = nullptr;
  ForEachRow(call.rows, [&](int32_t row) {
    if (regex == nullptr || !constant) regex = &Compiled(SimilarToRegex(patterns[row].view()));
    if (regex->ok()) {
      return out.Set(row, RE2::PartialMatch(re2::StringPiece(texts[row].data(), texts[row].size()), *regex));
    }
    call.errors.Add(row, NotExpressible(*regex));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyPattern = "string";

const ScalarFunction kPatterns[] = {
    {"LIKE", kFamilyPattern, "Whether the text matches: % any run, _ one character.",
     "'50%' LIKE '50!%' ESCAPE '!'", "TRUE", Pattern<"tt?t>B">, LikeKernel},
    {"SIMILAR TO", kFamilyPattern, "Whether the text matches SQL's regular expression.",
     "'abc' SIMILAR TO '(a|b)%'", "TRUE", Pattern<"tt>B">, SimilarKernel},
    {"REGEXP", kFamilyPattern, "Whether a part of the text matches the regular expression.",
     "REGEXP('abc', 'a.c')", "TRUE", RegexSignature<"tt>B">, RegexpKernel},
    {"REGEXP_REPLACE", kFamilyPattern, "Every match replaced by the third argument, taken as it stands.",
     "REGEXP_REPLACE('a1b22', '[0-9]+', '#')", "a#b#", RegexSignature<"ttt>S">, RegexpReplaceKernel},
    {"REGEXP_EXTRACT", kFamilyPattern,
     "What the n-th group matched, or the whole match; NULL if nothing did.",
     "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", "bar", RegexSignature<"tt?i>S!">,
     RegexpExtractKernel},
};

}  // namespace

std::span<const ScalarFunction> PatternFunctions() { return kPatterns; }

}  // namespace caudal
