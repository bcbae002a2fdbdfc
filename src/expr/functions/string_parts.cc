#include "expr/functions/string_parts.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <limits>

#include "expr/utf8.h"

namespace caudal {
namespace {

// glibc's own Unicode tables, whatever the environment says; without them only ASCII has cases.
locale_t UnicodeLocale() {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return unicode;
}

bool IsAsciiLetter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char32_t AsciiUpper(char32_t c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
char32_t AsciiLower(char32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

char32_t UpperOf(char32_t c) {
  if (c < 0x80) return AsciiUpper(c);
  return UnicodeLocale() == nullptr
             ? c
             : static_cast<char32_t>(towupper_l(static_cast<wint_t>(c), UnicodeLocale()));
}
char32_t LowerOf(char32_t c) {
  if (c < 0x80) return AsciiLower(c);
  return UnicodeLocale() == nullptr
             ? c
             : static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), UnicodeLocale()));
}

bool IsAscii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

bool Contains(std::string_view set, std::string_view character) {
  return set.find(character) != std::string_view::npos;
}

// The byte length of the last character.
size_t LastCharacterSize(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && IsContinuation(text[text.size() - size])) ++size;
  return size;
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Substring(std::string_view text, int64_t start, int64_t length) {
  int64_t skip = start > 0 ? start - 1 : 0;
  if (start < 0) {
    skip = CharacterCount(text) + start;
    if (skip < 0) return text.substr(0, 0);  // empty, and not null
  }
  const std::string_view rest = text.substr(CharacterOffset(text, skip));
  return CharacterPrefix(rest, length);
}

std::string_view TrimCharacters(std::string_view text, std::string_view set, bool leading, bool trailing) {
  if (set.empty()) return text;
  while (leading && !text.empty()) {
    const size_t size = CharacterOffset(text, 1);
    if (!Contains(set, text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (trailing && !text.empty()) {
    const size_t size = LastCharacterSize(text);
    if (!Contains(set, text.substr(text.size() - size))) break;
    text.remove_suffix(size);
  }
  return text;
}

bool NthPart(std::string_view text, std::string_view separator, int64_t index, std::string_view* part) {
  if (index < 0 || text.empty()) return false;
  if (separator.empty()) {
    *part = text;
    return index == 0;
  }
  for (; index > 0; --index) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + separator.size());
  }
  *part = text.substr(0, text.find(separator));
  return true;
}

int32_t FindCharacters(std::string_view text, std::string_view needle, int64_t from, int64_t nth) {
  if (nth < 1) return 0;
  size_t at = 0;
  if (from >= 0) {
    at = CharacterOffset(text, std::max<int64_t>(0, from - 1));
    for (; nth > 0; --nth) {
      at = text.find(needle, at);
      if (at == std::string_view::npos) return 0;
      if (nth > 1) at += needle.empty() ? 1 : needle.size();
    }
  } else {
    const int64_t last = CharacterCount(text) + from;
    if (last < 0) return 0;
    at = CharacterOffset(text, last);
    for (; nth > 0; --nth) {
      at = text.rfind(needle, at);
      if (at == std::string_view::npos) return 0;
      if (nth > 1 && at-- == 0) return 0;
    }
  }
  return CharacterCount(text.substr(0, at)) + 1;
}

void AppendUpper(std::string_view text, std::string* out) {
  if (IsAscii(text)) {
    for (const char c : text) *out += static_cast<char>(AsciiUpper(static_cast<unsigned char>(c)));
    return;
  }
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c == U'ß') {
      *out += "SS";
    } else {
      AppendCharacter(UpperOf(c), out);
    }
  }
}

void AppendLower(std::string_view text, std::string* out) {
  if (IsAscii(text)) {
    for (const char c : text) *out += static_cast<char>(AsciiLower(static_cast<unsigned char>(c)));
    return;
  }
  while (!text.empty()) AppendCharacter(LowerOf(TakeCharacter(&text)), out);
}

void AppendInitCap(std::string_view text, std::string* out) {
  bool inside = false;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    AppendCharacter(inside ? AsciiLower(c) : AsciiUpper(c), out);
    inside = IsAsciiLetter(c) || (c >= '0' && c <= '9');
  }
}

bool IsLetter(char32_t character) {
  if (character < 0x80) return IsAsciiLetter(character);
  return UnicodeLocale() != nullptr && iswalpha_l(static_cast<wint_t>(character), UnicodeLocale()) != 0;
}

bool IsDigit(char32_t character) {
  // The zeros of the scripts, ascending; nine digits follow each.
  static constexpr char16_t kZeros[] = {
      0x30,   0x660,  0x6f0,  0x7c0,  0x966,  0x9e6,  0xa66,  0xae6,  0xb66,  0xbe6,  0xc66,  0xce6,  0xd66,
      0xde6,  0xe50,  0xed0,  0xf20,  0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
      0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10};
  const auto above = std::upper_bound(std::begin(kZeros), std::end(kZeros), character);
  return above != std::begin(kZeros) && character - above[-1] < 10;
}

void AppendReplaced(std::string_view text, std::string_view from, std::string_view to, std::string* out) {
  if (from.empty()) {  // Java puts `to` around every character
    *out += to;
    while (!text.empty()) {
      const size_t size = CharacterOffset(text, 1);
      out->append(text.substr(0, size)).append(to);
      text.remove_prefix(size);
    }
    return;
  }
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    out->append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  *out += text;
}

void AppendTranslated(std::string_view text, std::string_view from, std::string_view to, std::string* out) {
  while (!text.empty()) {
    const size_t size = CharacterOffset(text, 1);
    const std::string_view character = text.substr(0, size);
    text.remove_prefix(size);
    const size_t at = from.find(character);
    if (at == std::string_view::npos) {
      *out += character;
      continue;
    }
    const int64_t index = CharacterCount(from.substr(0, at));
    const std::string_view rest = to.substr(CharacterOffset(to, index));
    *out += CharacterPrefix(rest, 1);
  }
}

bool AppendPadded(std::string_view text, int64_t length, std::string_view filler, bool left,
                  std::string* out) {
  if (length < 0 || filler.empty()) return false;
  const int64_t count = CharacterCount(text);
  if (count >= length) {
    *out += CharacterPrefix(text, length);
    return true;
  }
  std::string padding;
  const int64_t filler_count = CharacterCount(filler);
  int64_t missing = length - count;
  for (; missing >= filler_count; missing -= filler_count) padding += filler;
  padding += CharacterPrefix(filler, missing);
  out->append(left ? padding : text).append(left ? text : padding);
  return true;
}

void AppendReversed(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t size = LastCharacterSize(text);
    *out += text.substr(text.size() - size);
    text.remove_suffix(size);
  }
}

void AppendBase64(std::string_view bytes, std::string* out) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t b = 0; b < 3; ++b) {
      group = group << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    }
    for (size_t c = 0; c < 4; ++c) *out += c > count ? '=' : kBase64[group >> (18 - 6 * c) & 63];
  }
}

bool AppendFromBase64(std::string_view text, std::string* out) {
  size_t padding = 0;
  while (!text.empty() && text.back() == '=' && padding < 2) {
    text.remove_suffix(1);
    ++padding;
  }
  if (text.size() % 4 == 1 || (padding > 0 && (text.size() + padding) % 4 != 0)) return false;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t value = kBase64.find(c);
    if (value == std::string_view::npos) return false;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    *out += static_cast<char>(group >> bits & 255);
  }
  return true;
}

void AppendUrlEncoded(std::string_view text, std::string* out) {
  for (const char c : text) {
    const bool plain = IsAsciiLetter(static_cast<unsigned char>(c)) || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '*';
    if (plain) {
      *out += c;
    } else if (c == ' ') {
      *out += '+';
    } else {
      const unsigned char byte = static_cast<unsigned char>(c);
      *out += '%';
      *out += "0123456789ABCDEF"[byte >> 4];
      *out += "0123456789ABCDEF"[byte & 15];
    }
  }
}

bool AppendUrlDecoded(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      *out += ' ';
    } else if (text[i] != '%') {
      *out += text[i];
    } else {
      if (i + 2 >= text.size()) return false;
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high < 0 || low < 0) return false;
      *out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return true;
}

}  // namespace caudal
