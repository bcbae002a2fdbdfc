#include "expr/functions/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "expr/utf8.h"

namespace caudal {
namespace {

bool IsJsonDigit(char c) { return c >= '0' && c <= '9'; }
bool IsJsonBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int HexOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Goes over a document once; every Skip… leaves `at` behind what it names and answers whether it was there.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  const char* at() const { return at_; }
  void SkipBlanks() {
    while (at_ < end_ && IsJsonBlank(*at_)) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool Next(char c) {
    SkipBlanks();
    return at_ < end_ && *at_ == c;
  }

  bool SkipValue(int depth = 0) {
    SkipBlanks();
    if (at_ == end_ || depth > kMaxJsonDepth) return false;
    switch (*at_) {
      case '{':
        return SkipObject(depth);
      case '[':
        return SkipArray(depth);
      case '"':
        return SkipString();
      case 't':
        return SkipWord("true");
      case 'f':
        return SkipWord("false");
      case 'n':
        return SkipWord("null");
      default:
        return SkipNumber();
    }
  }

  bool SkipString() {
    if (!Take('"')) return false;
    while (at_ < end_) {
      const unsigned char c = static_cast<unsigned char>(*at_++);
      if (c == '"') return true;
      if (c < 0x20) return false;
      if (c == '\\' && !SkipEscape()) return false;
    }
    return false;
  }

 private:
  bool SkipEscape() {
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; ++i) {
      if (at_ == end_ || HexOf(*at_) < 0) return false;
      ++at_;
    }
    return true;
  }
  bool SkipWord(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return at_ == end_ || IsJsonBlank(*at_) || *at_ == ',' || *at_ == ']' || *at_ == '}';
  }
  bool SkipDigits() {
    const char* start = at_;
    while (at_ < end_ && IsJsonDigit(*at_)) ++at_;
    return at_ > start;
  }
  bool SkipNumber() {
    if (at_ < end_ && *at_ == '-') ++at_;
    const char* first = at_;
    if (!SkipDigits() || (*first == '0' && at_ - first > 1)) return false;
    if (at_ < end_ && *at_ == '.') {
      ++at_;
      if (!SkipDigits()) return false;
    }
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!SkipDigits()) return false;
    }
    return at_ == end_ || IsJsonBlank(*at_) || *at_ == ',' || *at_ == ']' || *at_ == '}' || *at_ == '{' ||
           *at_ == '[';
  }
  bool SkipObject(int depth) {
    ++at_;
    if (Take('}')) return true;
    do {
      SkipBlanks();
      if (!SkipString() || !Take(':') || !SkipValue(depth + 1)) return false;
    } while (Take(','));
    return Take('}');
  }
  bool SkipArray(int depth) {
    ++at_;
    if (Take(']')) return true;
    do {
      if (!SkipValue(depth + 1)) return false;
    } while (Take(','));
    return Take(']');
  }

  const char* at_;
  const char* end_;
};

// `f(quoted key, value)` for each member of a scanned object.
template <typename F>
void ForEachMember(std::string_view object, F f) {
  JsonScanner scanner(object);
  scanner.Take('{');
  if (scanner.Next('}')) return;
  do {
    scanner.SkipBlanks();
    const char* key = scanner.at();
    scanner.SkipString();
    const std::string_view quoted(key, static_cast<size_t>(scanner.at() - key));
    scanner.Take(':');
    scanner.SkipBlanks();
    const char* value = scanner.at();
    scanner.SkipValue();
    f(quoted, std::string_view(value, static_cast<size_t>(scanner.at() - value)));
  } while (scanner.Take(','));
}

template <typename F>
void ForEachElement(std::string_view array, F f) {
  JsonScanner scanner(array);
  scanner.Take('[');
  if (scanner.Next(']')) return;
  do {
    scanner.SkipBlanks();
    const char* value = scanner.at();
    scanner.SkipValue();
    f(std::string_view(value, static_cast<size_t>(scanner.at() - value)));
  } while (scanner.Take(','));
}

bool KeyEquals(std::string_view quoted, std::string_view key) {
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  if (inner.find('\\') == std::string_view::npos) return inner == key;
  std::string unescaped;
  AppendUnescaped(quoted, &unescaped);
  return unescaped == key;
}

bool FindStep(std::string_view value, const JsonPath::Step& step, std::string_view* found) {
  bool any = false;
  if (step.kind == JsonPath::Step::Kind::kKey) {
    if (KindOfJson(value) != JsonKind::kObject) return false;
    ForEachMember(value, [&](std::string_view key, std::string_view member) {
      if (!KeyEquals(key, step.key)) return;
      *found = member;
      any = true;
    });
    return any;
  }
  if (KindOfJson(value) != JsonKind::kArray) return false;
  int64_t index = 0;
  ForEachElement(value, [&](std::string_view element) {
    if (index++ != step.index) return;
    *found = element;
    any = true;
  });
  return any;
}

void CollectSteps(std::string_view value, const std::vector<JsonPath::Step>& steps, size_t at,
                  std::vector<std::string_view>* found) {
  if (at == steps.size()) {
    found->push_back(value);
    return;
  }
  if (steps[at].kind != JsonPath::Step::Kind::kAny) {
    std::string_view next;
    if (FindStep(value, steps[at], &next)) CollectSteps(next, steps, at + 1, found);
    return;
  }
  if (KindOfJson(value) == JsonKind::kArray) {
    ForEachElement(value, [&](std::string_view element) { CollectSteps(element, steps, at + 1, found); });
  } else if (KindOfJson(value) == JsonKind::kObject) {
    ForEachMember(value, [&](std::string_view, std::string_view member) {
      CollectSteps(member, steps, at + 1, found);
    });
  }
}

// As BigDecimal.toString of what was parsed: "1e3" is "1E+3", "1.50" stays.
void AppendNumber(std::string_view number, std::string* out) {
  if (number.find_first_of(".eE") == std::string_view::npos) {
    *out += number == "-0" ? std::string_view("0") : number;
    return;
  }
  const bool negative = number[0] == '-';
  if (negative) number.remove_prefix(1);
  int64_t exponent = 0;
  const size_t mark = number.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view text = number.substr(mark + 1);
    if (text[0] == '+') text.remove_prefix(1);
    std::from_chars(text.data(), text.data() + text.size(), exponent);
    number = number.substr(0, mark);
  }
  std::string digits;
  int64_t scale = -exponent;
  const size_t point = number.find('.');
  for (const char c : number) {
    if (c != '.') digits += c;
  }
  if (point != std::string_view::npos) scale += static_cast<int64_t>(number.size() - point - 1);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const int64_t count = static_cast<int64_t>(digits.size());
  const int64_t adjusted = count - 1 - scale;
  if (negative && digits != "0") *out += '-';
  if (scale >= 0 && adjusted >= -6) {
    if (scale >= count) digits.insert(0, static_cast<size_t>(scale - count + 1), '0');
    if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    *out += digits;
    return;
  }
  if (count > 1) digits.insert(1, ".");
  *out += fmt::format("{}E{}{}", digits, adjusted >= 0 ? "+" : "", adjusted);
}

void AppendEscape(unsigned char c, std::string* out) {
  constexpr std::string_view kPlain = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  const size_t at = kPlain.find(static_cast<char>(c));
  if (at != std::string_view::npos) {
    (*out += '\\') += kLetters[at];
  } else {
    *out += fmt::format("\\u{:04X}", c);
  }
}

// Takes "['key']", "[\"key\"]", "[3]" or "[*]".
bool TakeBracket(std::string_view* text, JsonPath::Step* step) {
  text->remove_prefix(1);
  const size_t end = text->find(']');
  if (end == std::string_view::npos || end == 0) return false;
  const char quote = (*text)[0];
  if (quote == '\'' || quote == '"') {
    const size_t close = text->find(quote, 1);
    if (close == std::string_view::npos || close + 1 >= text->size() || (*text)[close + 1] != ']')
      return false;
    *step = {JsonPath::Step::Kind::kKey, std::string(text->substr(1, close - 1))};
    text->remove_prefix(close + 2);
    return true;
  }
  const std::string_view inside = text->substr(0, end);
  text->remove_prefix(end + 1);
  if (inside == "*") {
    *step = {JsonPath::Step::Kind::kAny, ""};
    return true;
  }
  step->kind = JsonPath::Step::Kind::kIndex;
  const auto [last, error] = std::from_chars(inside.data(), inside.data() + inside.size(), step->index);
  return error == std::errc() && last == inside.data() + inside.size() && step->index >= 0;
}

}  // namespace

JsonKind KindOfJson(std::string_view value) {
  switch (value[0]) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 'n':
      return JsonKind::kNull;
    case 't':
    case 'f':
      return JsonKind::kBoolean;
    default:
      return JsonKind::kNumber;
  }
}

bool ScanJson(std::string_view document, std::string_view* value) {
  JsonScanner scanner(document);
  scanner.SkipBlanks();
  const char* start = scanner.at();
  if (!scanner.SkipValue()) return false;
  *value = {start, static_cast<size_t>(scanner.at() - start)};
  return true;
}

bool JsonPath::definite() const {
  return std::none_of(steps.begin(), steps.end(),
                      [](const Step& step) { return step.kind == Step::Kind::kAny; });
}

Result<JsonPath> JsonPath::Compile(std::string_view text) {
  JsonPath path;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  for (const std::string_view mode : {"lax ", "strict "}) {
    if (!text.starts_with(mode)) continue;
    path.lax = mode == "lax ";
    text.remove_prefix(mode.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    break;
  }
  if (text.find("..") != std::string_view::npos || text.find("?(") != std::string_view::npos) {
    return Status::User(fmt::format("the JSON path '{}' uses '..' or a filter, which is not built", text));
  }
  if (text.empty() || text.find(' ') < text.find_first_of("['\"")) return path;
  std::string prefixed;
  if (text[0] != '$') {  // "a" is "$.a"
    prefixed = "$." + std::string(text);
    text = prefixed;
  }
  text.remove_prefix(1);
  while (!text.empty()) {
    Step step{Step::Kind::kKey, ""};
    if (text[0] == '.') text.remove_prefix(1);
    if (text.empty()) return path;
    if (text[0] == '[') {
      if (!TakeBracket(&text, &step)) return path;
    } else {
      const size_t end = std::min(text.find_first_of(".["), text.size());
      if (end == 0) return path;
      if (text.substr(0, end) == "*") {
        step.kind = Step::Kind::kAny;
      } else {
        step.key = text.substr(0, end);
      }
      text.remove_prefix(end);
    }
    path.steps.push_back(std::move(step));
  }
  path.valid = true;
  return path;
}

bool FindInJson(std::string_view value, const JsonPath& path, std::string_view* found) {
  for (const JsonPath::Step& step : path.steps) {
    if (!FindStep(value, step, &value)) return false;
  }
  *found = value;
  return true;
}

void FindAllInJson(std::string_view value, const JsonPath& path, std::vector<std::string_view>* found) {
  CollectSteps(value, path.steps, 0, found);
}

void AppendJsonScalar(std::string_view value, std::string* out) {
  switch (KindOfJson(value)) {
    case JsonKind::kString:
      return AppendUnescaped(value, out);
    case JsonKind::kNumber:
      return AppendNumber(value, out);
    default:
      *out += value;
  }
}

void AppendJsonNormalized(std::string_view value, std::string* out) {
  bool first = true;
  if (KindOfJson(value) == JsonKind::kArray) {
    *out += '[';
    ForEachElement(value, [&](std::string_view element) {
      if (!first) *out += ',';
      first = false;
      AppendJsonNormalized(element, out);
    });
    *out += ']';
  } else if (KindOfJson(value) == JsonKind::kObject) {
    std::map<std::string, std::string_view> members;
    ForEachMember(value, [&](std::string_view key, std::string_view member) {
      std::string name;
      AppendUnescaped(key, &name);
      members[name] = member;
    });
    *out += '{';
    for (const auto& [key, member] : members) {
      if (!first) *out += ',';
      first = false;
      AppendJsonString(key, out);
      *out += ':';
      AppendJsonNormalized(member, out);
    }
    *out += '}';
  } else if (KindOfJson(value) == JsonKind::kString) {
    std::string text;
    AppendUnescaped(value, &text);
    AppendJsonString(text, out);
  } else {
    AppendJsonScalar(value, out);
  }
}

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (*out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendEscape(static_cast<unsigned char>(c), out);
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendUnescaped(std::string_view quoted, std::string* out) {
  std::string_view text = quoted.substr(1, quoted.size() - 2);
  const auto hex4 = [](std::string_view digits) {
    char32_t value = 0;
    for (const char c : digits) value = value << 4 | static_cast<char32_t>(HexOf(c));
    return value;
  };
  while (!text.empty()) {
    const size_t plain = std::min(text.find('\\'), text.size());
    *out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const char c = text[1];
    text.remove_prefix(2);
    if (c != 'u') {
      const size_t at = std::string_view("bfnrt").find(c);
      *out += at == std::string_view::npos ? c : "\b\f\n\r\t"[at];
      continue;
    }
    char32_t value = hex4(text.substr(0, 4));
    text.remove_prefix(4);
    const bool high = value >= 0xD800 && value < 0xDC00;
    if (high && text.size() >= 6 && text[0] == '\\' && text[1] == 'u') {
      const char32_t low = hex4(text.substr(2, 4));
      if (low >= 0xDC00 && low < 0xE000) {
        value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
        text.remove_prefix(6);
      }
    }
    AppendCharacter(value >= 0xD800 && value < 0xE000 ? U'\uFFFD' : value, out);
  }
}

void AppendAsciiJsonString(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c == '"' || c == '\\' || c == '/') {
      (*out += '\\') += static_cast<char>(c);
    } else if (c < 0x20) {
      AppendEscape(static_cast<unsigned char>(c), out);
    } else if (c < 0x7F) {
      *out += static_cast<char>(c);
    } else if (c < 0x10000) {
      *out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      const uint32_t rest = static_cast<uint32_t>(c) - 0x10000;
      *out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  *out += '"';
}

}  // namespace caudal
