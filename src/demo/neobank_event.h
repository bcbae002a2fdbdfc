// NeobankEvent: one card transaction as its generator means it, before it becomes bytes. Plain data; no
// thread rule.
//
// Words are indexes into the lists below. The bytes (neobank_encoder.h) and the expected result
// (neobank_expectation.h) are both made from this, neither from the other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace caudal {

// What is wrong with the row, if anything.
enum class NeobankDefect : uint8_t {
  kNone,
  kNullField,     // contract: `broken_field` is null
  kMissingField,  // contract: `broken_field` is left out
  kTruncated,     // malformed from here on: the line ends too early
  kNotJson,
  kAmountIsWord,
  kControlByte,
  kInvalidUtf8,
};

struct NeobankEvent {
  static constexpr uint8_t kNull = 255;    // written as null
  static constexpr uint8_t kAbsent = 254;  // left out, which SQL also sees as NULL

  uint64_t id_high;  // transaction_id, a UUID
  uint64_t id_low;
  int64_t timestamp_ms;
  int64_t cents;
  uint32_t account;
  uint32_t merchant;
  uint8_t currency;
  uint8_t channel;  // may be kNull or kAbsent, as the next and the last
  uint8_t country;
  uint8_t status;
  uint8_t category;
  NeobankDefect defect;
  uint8_t broken_field;  // one of the NOT NULL fields, by its place in kNeobankFields
  uint8_t cut;           // where a truncated line ends, as a share of 256
};

// A word and how it is spelled inside JSON quotes.
struct NeobankWord {
  std::string_view text;
  std::string_view json;
};

inline constexpr std::array<std::string_view, 10> kNeobankFields = {
    "transaction_id", "account_id", "merchant_id",  "amount", "currency",
    "timestamp",      "channel",    "country_code", "status", "merchant_category"};
inline constexpr std::array<uint8_t, 7> kNeobankRequiredFields = {0, 1, 2, 3, 4, 5, 8};

inline constexpr std::array<std::string_view, 5> kNeobankCurrencies = {"EUR", "USD", "GBP", "CHF", "PLN"};
inline constexpr std::array<std::string_view, 4> kNeobankChannels = {"app", "web", "pos", "atm"};
inline constexpr std::array<std::string_view, 16> kNeobankCountries = {
    "ES", "PT", "FR", "DE", "IT", "NL", "BE", "IE", "GB", "CH", "PL", "AT", "SE", "DK", "FI", "US"};
inline constexpr std::array<std::string_view, 5> kNeobankStatuses = {"completed", "pending", "failed",
                                                                     "reversed", "declined"};
inline constexpr uint8_t kNeobankCompleted = 0;
inline constexpr uint8_t kNeobankPending = 1;
// Some need escapes or are beyond ASCII, so that a decoder's short cut for plain text is not all that is
// used.
inline constexpr std::array<NeobankWord, 12> kNeobankCategories = {
    {{"grocery", "grocery"},
     {"fuel", "fuel"},
     {"restaurant", "restaurant"},
     {"travel", "travel"},
     {"electronics", "electronics"},
     {"pharmacy", "pharmacy"},
     {"clothing", "clothing"},
     {"utilities", "utilities"},
     {"cash withdrawal", "cash withdrawal"},
     {"café", "café"},
     {"jardín", "jard\\u00edn"},
     {"toys \"n\" games/hobby", "toys \\\"n\\\" games\\/hobby"}}};

}  // namespace caudal
