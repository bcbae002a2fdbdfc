// String functions that write new text: cases, replacing, padding, encodings.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "data/text/number_text.h"
#include "expr/cast/cast.h"
#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/functions/string_parts.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;

// A result beyond this is refused rather than built: REPEAT and LPAD could ask for any size.
constexpr size_t kMaxTextBytes = 16 << 20;

// `append(row, std::string* out) -> bool` writes a row's text; false is NULL.
template <typename F>
ColumnPtr WriteTexts(KernelCall& call, F append) {
  StringOutput out(call.physical_rows);
  std::string text;
  ForEachRow(call.rows, [&](int32_t row) {
    text.clear();
    if (!append(row, &text)) return out.SetNull(row);
    out.Set(row, text);
  });
  return out.Finish(call.expr.type);
}

template <void (*kAppend)(std::string_view, std::string*)>
ColumnPtr RewriteKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    kAppend(texts[row].view(), out);
    return true;
  });
}

template <void (*kAppend)(std::string_view, std::string_view, std::string_view, std::string*)>
ColumnPtr RewriteByPairKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const TextView from(*call.args[1]);
  const TextView to(*call.args[2]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    kAppend(texts[row].view(), from[row].view(), to[row].view(), out);
    return true;
  });
}

template <bool kLeft>
ColumnPtr PadKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const ColumnView<int32_t> lengths(*call.args[1]);
  const TextView fillers(*call.args[2]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    if (lengths[row] > static_cast<int32_t>(kMaxTextBytes / 4)) {
      call.errors.Add(row, "the padded text would be too long");
      return false;
    }
    return AppendPadded(texts[row].view(), lengths[row], fillers[row].view(), kLeft, out);
  });
}

ColumnPtr RepeatKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const ColumnView<int32_t> counts(*call.args[1]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    const size_t count = static_cast<size_t>(std::max(0, counts[row]));
    if (texts[row].size() * count > kMaxTextBytes) {
      call.errors.Add(row, "the repeated text would be too long");
      return false;
    }
    for (size_t i = 0; i < count && !texts[row].empty(); ++i) *out += texts[row].view();
    return true;
  });
}

// The character of a code's last byte, as in Flink: 321 is 'A'.
ColumnPtr ChrKernel(KernelCall& call) {
  const ColumnView<int64_t> codes(*call.args[0]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    if (codes[row] >= 0) AppendCharacter(static_cast<char32_t>(codes[row] & 255), out);
    return true;
  });
}

ColumnPtr FromBase64Kernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    if (AppendFromBase64(texts[row].view(), out)) return true;
    call.errors.Add(row, "the text is no Base64");
    return false;
  });
}

ColumnPtr UrlDecodeKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  return WriteTexts(call,
                    [&](int32_t row, std::string* out) { return AppendUrlDecoded(texts[row].view(), out); });
}

ColumnPtr OverlayKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const TextView fillings(*call.args[1]);
  const ColumnView<int32_t> starts(*call.args[2]);
  const bool given = call.args.size() == 4;
  const ColumnView<int32_t> lengths(*call.args[given ? 3 : 2]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    const std::string_view text = texts[row].view();
    const std::string_view filling = fillings[row].view();
    const int64_t count = CharacterCount(text);
    const int64_t start = starts[row];
    const int64_t length = given ? lengths[row] : CharacterCount(filling);
    if (start <= 0 || start > count) {
      *out += text;
      return true;
    }
    out->append(CharacterPrefix(text, start - 1)).append(filling);
    if (length > 0 && start + length <= count) *out += text.substr(CharacterOffset(text, start - 1 + length));
    return true;
  });
}

Result<Signature> ResolveOverlay(std::span<const Type> args, std::span<const Value* const>) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("tti?i>S", args));
  const int64_t length = static_cast<int64_t>(signature.args[0].length()) + signature.args[1].length();
  signature.result = Type::VarChar(static_cast<int32_t>(std::min<int64_t>(length, Type::kMaxLength)))
                         .WithNullable(signature.result.nullable());
  return signature;
}

// --- PRINTF
// --------------------------------------------------------------------------------------------------

// One "%…" of a format: flags, width, precision, letter.
struct Directive {
  bool left = false, zeros = false, plus = false;
  int width = 0;
  int precision = -1;
  char letter = 0;
};

// Takes a directive behind its '%'.
bool TakeDirective(std::string_view* format, Directive* directive) {
  const auto take_number = [format](int* number) {
    while (!format->empty() && format->front() >= '0' && format->front() <= '9' && *number < 1000) {
      *number = *number * 10 + (format->front() - '0');
      format->remove_prefix(1);
    }
  };
  for (; !format->empty(); format->remove_prefix(1)) {
    if (format->front() == '-') {
      directive->left = true;
    } else if (format->front() == '0') {
      directive->zeros = true;
    } else if (format->front() == '+') {
      directive->plus = true;
    } else {
      break;
    }
  }
  take_number(&directive->width);
  if (!format->empty() && format->front() == '.') {
    format->remove_prefix(1);
    directive->precision = 0;
    take_number(&directive->precision);
  }
  if (format->empty() || directive->width > 1000 || directive->precision > 100) return false;
  directive->letter = format->front();
  format->remove_prefix(1);
  return std::string_view("sdfxX%n").find(directive->letter) != std::string_view::npos;
}

// The argument's text before padding; false when the letter is not for its type.
bool DirectiveText(const Directive& directive, const Column& column, int32_t row, TimeZone& zone,
                   std::string* text) {
  if (column.IsNull(row)) {
    *text = "null";
    return true;
  }
  AppendValueText(column, row, zone, text);
  const Type& type = column.type();
  if (directive.letter == 's') {
    if (directive.precision >= 0) *text = CharacterPrefix(*text, directive.precision);
    return true;
  }
  if (directive.letter == 'f') {
    double value = 0;
    if (!type.is_numeric() || type.is_integer() || !ParseDouble(*text, &value)) return false;
    *text = fmt::format("{:.{}f}", value, directive.precision < 0 ? 6 : directive.precision);
  } else if (!type.is_integer()) {
    return false;
  } else if (directive.letter != 'd') {
    int64_t value = 0;
    ParseWholeInteger(*text, &value);
    const uint64_t bits =
        type.id() == TypeId::kBigInt ? static_cast<uint64_t>(value) : static_cast<uint32_t>(value);
    *text = directive.letter == 'x' ? fmt::format("{:x}", bits) : fmt::format("{:X}", bits);
  }
  if (directive.plus && text->front() != '-') text->insert(0, "+");
  return true;
}

void AppendAligned(const Directive& directive, std::string text, std::string* out) {
  const int missing = directive.width - CharacterCount(text);
  if (missing <= 0) {
    *out += text;
  } else if (directive.left) {
    out->append(text).append(static_cast<size_t>(missing), ' ');
  } else if (directive.zeros && directive.letter != 's') {
    const size_t sign = text.front() == '-' || text.front() == '+' ? 1 : 0;
    out->append(text.insert(sign, static_cast<size_t>(missing), '0'));
  } else {
    out->append(static_cast<size_t>(missing), ' ').append(text);
  }
}

// A subset of Java's format: %s %d %f %x %X %% %n with '-', '0', '+', width and precision.
bool AppendFormatted(KernelCall& call, std::string_view format, int32_t row, std::string* out) {
  size_t next = 1;
  while (!format.empty()) {
    const size_t percent = std::min(format.find('%'), format.size());
    *out += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    format.remove_prefix(1);
    Directive directive;
    if (!TakeDirective(&format, &directive)) return false;
    if (directive.letter == '%' || directive.letter == 'n') {
      *out += directive.letter == '%' ? '%' : '\n';
      continue;
    }
    std::string text;
    if (next >= call.args.size() ||
        !DirectiveText(directive, *call.args[next++], row, call.evaluator.zone(), &text)) {
      return false;
    }
    AppendAligned(directive, std::move(text), out);
  }
  return true;
}

Result<Signature> ResolvePrintf(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  if (!IsText(args[0])) return WrongArgument(0, args[0], "a string");
  Signature signature{Type::String(), {args.begin(), args.end()}};
  if (args[0].id() == TypeId::kNull) signature.args[0] = Type::String();
  return signature;
}

ColumnPtr PrintfKernel(KernelCall& call) {
  const TextView formats(*call.args[0]);
  return WriteTexts(call, [&](int32_t row, std::string* out) {
    if (formats.IsNull(row)) return false;
    if (AppendFormatted(call, formats[row].view(), row, out)) return true;
    call.errors.Add(row, fmt::format("the format '{}' and its arguments do not fit", formats[row].view()));
    return false;
  });
}

// --- what a text consists of
// ---------------------------------------------------------------------------------

template <bool (*kHolds)(std::string_view)>
ColumnPtr PredicateKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) { out.Set(row, !texts.IsNull(row) && kHolds(texts[row].view())); });
  return out.Finish(call.expr.type);
}

bool AllLetters(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    if (!IsLetter(TakeCharacter(&text))) return false;
  }
  return true;
}
bool AllDigits(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    if (!IsDigit(TakeCharacter(&text))) return false;
  }
  return true;
}
// Of other scripts whole numbers only, as Java reads them.
bool IsNumberText(std::string_view text) {
  double value = 0;
  if (ParseDouble(text, &value)) return true;
  return AllDigits(text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0));
}

constexpr std::string_view kFamilyText = "string";

const ScalarFunction kStringChange[] = {
    {"UPPER", kFamilyText, "In capitals.", "UPPER('año')", "AÑO", Pattern<"t>S">, RewriteKernel<AppendUpper>},
    {"LOWER", kFamilyText, "In small letters.", "LOWER('AÑO')", "año", Pattern<"t>S">,
     RewriteKernel<AppendLower>},
    {"INITCAP", kFamilyText, "Every word with a capital; words are of ASCII letters and digits.",
     "INITCAP('hELLO wORLD')", "Hello World", Pattern<"t>S">, RewriteKernel<AppendInitCap>},
    {"REVERSE", kFamilyText, "The characters from last to first.", "REVERSE('abc')", "cba", Pattern<"t>S">,
     RewriteKernel<AppendReversed>},
    {"REPLACE", kFamilyText, "Every occurrence of the second replaced by the third.",
     "REPLACE('hello', 'l', 'L')", "heLLo", Pattern<"ttt>S">, RewriteByPairKernel<AppendReplaced>},
    {"TRANSLATE", kFamilyText, "Characters of the second replaced by those of the third, place by place.",
     "TRANSLATE('hello', 'el', 'ip')", "hippo", Pattern<"ttt>S">, RewriteByPairKernel<AppendTranslated>},
    {"LPAD", kFamilyText, "Filled on the left, or cut, to a length.", "LPAD('hi', 5, '?')", "???hi",
     Pattern<"tit>S">, PadKernel<true>},
    {"RPAD", kFamilyText, "Filled on the right, or cut, to a length.", "RPAD('hi', 5, 'ab')", "hiaba",
     Pattern<"tit>S">, PadKernel<false>},
    {"REPEAT", kFamilyText, "The text so many times.", "REPEAT('ab', 3)", "ababab", Pattern<"ti>S">,
     RepeatKernel},
    {"OVERLAY", kFamilyText, "With a part replaced.", "OVERLAY('Txxxxas' PLACING 'hom' FROM 2 FOR 4)",
     "Thomas", ResolveOverlay, OverlayKernel},
    {"PRINTF", kFamilyText, "Formatted as Java's format: %s %d %f %x %X %%, with width and precision.",
     "PRINTF('%s=%05.2f', 'a', 3.14159)", "a=03.14", ResolvePrintf, PrintfKernel, false, true, false},
    {"CHR", kFamilyText, "The character of a code, of its last 8 bits.", "CHR(65)", "A", Pattern<"l>S!">,
     ChrKernel},
    {"TO_BASE64", kFamilyText, "The bytes of a text in Base64.", "TO_BASE64('hello')",
     "aGVsbG8=", Pattern<"t>S">, RewriteKernel<AppendBase64>},
    {"FROM_BASE64", kFamilyText, "The text that Base64 stands for.", "FROM_BASE64('aGVsbG8=')", "hello",
     Pattern<"t>S">, FromBase64Kernel},
    {"URL_ENCODE", kFamilyText, "As a part of an address (application/x-www-form-urlencoded).",
     "URL_ENCODE('a b&c')", "a+b%26c", Pattern<"t>S!">, RewriteKernel<AppendUrlEncoded>},
    {"URL_DECODE", kFamilyText, "The text that URL_ENCODE was given; NULL if it is none.",
     "URL_DECODE('a+b%26c')", "a b&c", Pattern<"t>S!">, UrlDecodeKernel},
    {"IS_ALPHA", kFamilyText, "Whether all characters are letters; FALSE of nothing and NULL.",
     "IS_ALPHA('ab1')", "FALSE", Pattern<"t>B.">, PredicateKernel<AllLetters>, false, true, false},
    {"IS_DIGIT", kFamilyText, "Whether all characters are digits; FALSE of nothing and NULL.",
     "IS_DIGIT('123')", "TRUE", Pattern<"t>B.">, PredicateKernel<AllDigits>, false, true, false},
    {"IS_DECIMAL", kFamilyText, "Whether the text is a number; FALSE of NULL.", "IS_DECIMAL('1.5')", "TRUE",
     Pattern<"t>B.">, PredicateKernel<IsNumberText>, false, true, false},
};

}  // namespace

std::span<const ScalarFunction> StringChangeFunctions() { return kStringChange; }

}  // namespace caudal
