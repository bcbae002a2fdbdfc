#include "demo/neobank_text.h"

#include <chrono>

namespace caudal {
namespace {

struct Pairs {
  char decimal[100][2];
  char hex[256][2];
};

constexpr Pairs MakePairs() {
  Pairs pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs.decimal[i][0] = static_cast<char>('0' + i / 10);
    pairs.decimal[i][1] = static_cast<char>('0' + i % 10);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < 256; ++i) {
    pairs.hex[i][0] = kDigits[i / 16];
    pairs.hex[i][1] = kDigits[i % 16];
  }
  return pairs;
}

constexpr Pairs kPairs = MakePairs();

char* PutTwoDigits(char* out, uint32_t value) {
  std::memcpy(out, kPairs.decimal[value], 2);
  return out + 2;
}

// The lowest `bytes` bytes of `value`, highest first.
char* PutHex(char* out, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8, out += 2) {
    std::memcpy(out, kPairs.hex[(value >> shift) & 0xff], 2);
  }
  return out;
}

char* PutNullable(char* out, uint8_t word, const std::string_view* words) {
  return NeobankText::Put(out, word >= NeobankEvent::kAbsent ? std::string_view("\\N") : words[word]);
}

}  // namespace

char* NeobankText::PutUuid(char* out, uint64_t high, uint64_t low) {
  out = PutHex(out, high >> 32, 4);
  *out++ = '-';
  out = PutHex(out, high >> 16, 2);
  *out++ = '-';
  out = PutHex(out, high, 2);
  *out++ = '-';
  out = PutHex(out, low >> 48, 2);
  *out++ = '-';
  return PutHex(out, low, 6);
}

char* NeobankText::PutAccount(char* out, uint32_t account) {
  out = Put(out, "ACC-");
  out = PutTwoDigits(out, account / 1'000'000 % 100);
  out = PutTwoDigits(out, account / 10'000 % 100);
  out = PutTwoDigits(out, account / 100 % 100);
  return PutTwoDigits(out, account % 100);
}

char* NeobankText::PutMerchant(char* out, uint32_t merchant) {
  out = Put(out, "MER-");
  out = PutTwoDigits(out, merchant / 10'000 % 100);
  out = PutTwoDigits(out, merchant / 100 % 100);
  return PutTwoDigits(out, merchant % 100);
}

char* NeobankText::PutCents(char* out, int64_t cents) {
  uint64_t rest = static_cast<uint64_t>(cents);
  if (cents < 0) {
    *out++ = '-';
    rest = 0 - rest;
  }
  const uint32_t fraction = static_cast<uint32_t>(rest % 100);
  uint64_t whole = rest / 100;
  char digits[20];
  char* first = digits + sizeof digits;
  do {
    *--first = static_cast<char>('0' + whole % 10);
    whole /= 10;
  } while (whole != 0);
  out = Put(out, {first, static_cast<size_t>(digits + sizeof digits - first)});
  *out++ = '.';
  return PutTwoDigits(out, fraction);
}

char* NeobankText::PutDate(char* out, int64_t time_ms) {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::milliseconds(time_ms));
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  const uint32_t year = static_cast<uint32_t>(static_cast<int>(date.year()));
  out = PutTwoDigits(out, year / 100);
  out = PutTwoDigits(out, year % 100);
  *out++ = '-';
  out = PutTwoDigits(out, static_cast<unsigned>(date.month()));
  *out++ = '-';
  return PutTwoDigits(out, static_cast<unsigned>(date.day()));
}

char* NeobankText::PutTimestamp(char* out, int64_t time_ms) {
  const int64_t number = time_ms / 60'000;  // event times are after 1970, see NeobankOptions::Validate
  Minute& minute = minutes_[static_cast<uint64_t>(number) % minutes_.size()];
  if (minute.number != number) {
    minute.number = number;
    char* text = PutDate(minute.text, time_ms);
    *text++ = ' ';
    text = PutTwoDigits(text, static_cast<uint32_t>(number / 60 % 24));
    *text++ = ':';
    text = PutTwoDigits(text, static_cast<uint32_t>(number % 60));
    *text = ':';
  }
  std::memcpy(out, minute.text, sizeof minute.text);
  out += sizeof minute.text;
  const uint32_t rest = static_cast<uint32_t>(time_ms - number * 60'000);
  out = PutTwoDigits(out, rest / 1000);
  *out++ = '.';
  *out++ = static_cast<char>('0' + rest % 1000 / 100);
  return PutTwoDigits(out, rest % 100);
}

char* NeobankText::PutRow(char* out, const NeobankEvent& event) {
  out = PutUuid(out, event.id_high, event.id_low);
  *out++ = '\t';
  out = PutAccount(out, event.account);
  *out++ = '\t';
  out = PutMerchant(out, event.merchant);
  *out++ = '\t';
  out = PutCents(out, event.cents);
  *out++ = '\t';
  out = Put(out, kNeobankCurrencies[event.currency]);
  *out++ = '\t';
  out = PutTimestamp(out, event.timestamp_ms);
  *out++ = '\t';
  out = PutNullable(out, event.channel, kNeobankChannels.data());
  *out++ = '\t';
  out = PutNullable(out, event.country, kNeobankCountries.data());
  *out++ = '\t';
  out = Put(out, kNeobankStatuses[event.status]);
  *out++ = '\t';
  const bool null = event.category >= NeobankEvent::kAbsent;
  return Put(out, null ? std::string_view("\\N") : kNeobankCategories[event.category].text);
}

}  // namespace caudal
