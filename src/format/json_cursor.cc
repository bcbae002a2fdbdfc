#include "format/json_cursor.h"

namespace caudal {
namespace {

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

bool ReadHex(const char* digits, uint32_t* out) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = digits[i];
    uint32_t digit = 0;
    if (IsDigit(c)) {
      digit = static_cast<uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return false;
    }
    value = value * 16 + digit;
  }
  *out = value;
  return true;
}

// The UTF-8 of a code point never takes more bytes than its escape.
char* AppendUtf8(uint32_t point, char* to) {
  if (point < 0x80) {
    *to++ = static_cast<char>(point);
  } else if (point < 0x800) {
    *to++ = static_cast<char>(0xC0 | point >> 6);
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    *to++ = static_cast<char>(0xE0 | point >> 12);
    *to++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  } else {
    *to++ = static_cast<char>(0xF0 | point >> 18);
    *to++ = static_cast<char>(0x80 | (point >> 12 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  }
  return to;
}

// The code point of the escape whose 'u' is at `at`; moves past it, and past the second half of a pair.
bool ReadCodePoint(const char** at, const char* end, uint32_t* point) {
  if (end - *at < 5 || !ReadHex(*at + 1, point)) return false;
  *at += 5;
  if (*point < 0xD800 || *point > 0xDFFF) return true;
  uint32_t low = 0;
  if (*point > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u' || !ReadHex(*at + 2, &low) ||
      low < 0xDC00 || low > 0xDFFF) {
    return false;
  }
  *at += 6;
  *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
  return true;
}

char SimpleEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

bool IsJsonNumber(std::string_view text, bool* integer) {
  const char* at = text.data();
  const char* end = at + text.size();
  if (at != end && *at == '-') ++at;
  if (at == end || !IsDigit(*at)) return false;
  if (*at == '0') {
    ++at;
  } else {
    while (at != end && IsDigit(*at)) ++at;
  }
  *integer = at == end;
  if (at != end && *at == '.') {
    if (++at == end || !IsDigit(*at)) return false;
    while (at != end && IsDigit(*at)) ++at;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (at == end || !IsDigit(*at)) return false;
    while (at != end && IsDigit(*at)) ++at;
  }
  return at == end;
}

bool UnescapeJson(std::string_view raw, char* out, size_t* size) {
  const char* at = raw.data();
  const char* end = at + raw.size();
  char* to = out;
  while (at != end) {
    if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    if (++at == end) return false;
    if (*at == 'u') {
      uint32_t point = 0;
      if (!ReadCodePoint(&at, end, &point)) return false;
      to = AppendUtf8(point, to);
      continue;
    }
    const char c = SimpleEscape(*at++);
    if (c == '\0') return false;
    *to++ = c;
  }
  *size = static_cast<size_t>(to - out);
  return true;
}

bool JsonCursor::ReadUnquoted(JsonScalar* out) {
  if (at_end()) return false;
  const std::string_view token = Token();
  bool integer = false;
  if (IsJsonNumber(token, &integer)) {
    out->kind = integer ? JsonScalar::Kind::kInteger : JsonScalar::Kind::kNumber;
  } else if (token == "true") {
    out->kind = JsonScalar::Kind::kTrue;
  } else if (token == "false") {
    out->kind = JsonScalar::Kind::kFalse;
  } else if (token == "null") {
    out->kind = JsonScalar::Kind::kNull;
  } else {
    return false;
  }
  out->escaped = false;
  out->text = token;
  ++at_;
  return true;
}

bool JsonCursor::Skip(std::string_view* raw) {
  const char* begin = here();
  JsonScalar scalar;
  const bool container = kind() == '{' || kind() == '[';
  if (container ? !SkipContainer() : !ReadScalar(&scalar)) return false;
  if (raw != nullptr) {
    // Up to the token before: a container ends with its one-byte bracket.
    *raw = container ? std::string_view(begin, static_cast<size_t>(text_ + at_[-1] + 1 - begin))
                     : std::string_view(begin, scalar.text.size());
  }
  return true;
}

bool JsonCursor::SkipContainer() {
  char closers[kMaxDepth];
  int depth = 0;
  JsonScalar scalar;
  for (;;) {
    // At the start of a value.
    const char first = kind();
    bool opened = false;
    if (first == '{' || first == '[') {
      if (depth == kMaxDepth) {
        too_deep_ = true;
        return false;
      }
      closers[depth++] = first == '{' ? '}' : ']';
      ++at_;
      opened = kind() != closers[depth - 1];
    } else if (!ReadScalar(&scalar)) {
      return false;
    }
    // Past a value, or inside a container: close what closes, go on to the next value.
    while (!opened && depth > 0 && kind() == closers[depth - 1]) {
      ++at_;
      --depth;
    }
    if (depth == 0) return true;
    if (!opened) {
      if (kind() != ',') return false;
      ++at_;
    }
    if (closers[depth - 1] == '}') {
      std::string_view name;
      if (kind() != '"' || !ReadString(&name) || kind() != ':') return false;
      ++at_;
    }
  }
}

}  // namespace caudal
