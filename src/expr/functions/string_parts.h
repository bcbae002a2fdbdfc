// Pure functions on one string, behind the kernels of string functions. Positions and counts are characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace caudal {

// SQL's SUBSTRING: from 1; 0 as 1; negative from the end. REQUIRES: length >= 0.
std::string_view Substring(std::string_view text, int64_t start, int64_t length);
// Without characters of `set` at the ends that are named.
std::string_view TrimCharacters(std::string_view text, std::string_view set, bool leading, bool trailing);
// The part of number `index`, from 0, between separators; false if there is none.
bool NthPart(std::string_view text, std::string_view separator, int64_t index, std::string_view* part);
// Position of the `nth` occurrence at or behind `from`, from 1; 0 if there is none. A negative `from`
// searches backwards from that many characters before the end.
int32_t FindCharacters(std::string_view text, std::string_view needle, int64_t from, int64_t nth);

// Appends the text with every character in the other case; the full mapping of Java for 'ß'.
void AppendUpper(std::string_view text, std::string* out);
void AppendLower(std::string_view text, std::string* out);
// Each run of ASCII letters and digits with a capital; other characters part words and stay.
void AppendInitCap(std::string_view text, std::string* out);
bool IsLetter(char32_t character);
// A decimal digit of any script in Unicode's first plane, as Java's Character.isDigit(char).
bool IsDigit(char32_t character);

void AppendReplaced(std::string_view text, std::string_view from, std::string_view to, std::string* out);
void AppendTranslated(std::string_view text, std::string_view from, std::string_view to, std::string* out);
// False (NULL) for a negative length and for an empty filler.
bool AppendPadded(std::string_view text, int64_t length, std::string_view filler, bool left,
                  std::string* out);
void AppendReversed(std::string_view text, std::string* out);

void AppendBase64(std::string_view bytes, std::string* out);
// False when the text is no Base64.
bool AppendFromBase64(std::string_view text, std::string* out);
void AppendUrlEncoded(std::string_view text, std::string* out);
bool AppendUrlDecoded(std::string_view text, std::string* out);

}  // namespace caudal
