#include "demo/neobank_encoder.h"

#include <algorithm>

#include "base/check.h"

namespace caudal {
namespace {

constexpr std::string_view kNotJsonLine = "upstream connect error or disconnect/reset before headers";
// Where the first digit of account_id stands in an intact line.
constexpr size_t kAccountDigit = std::string_view(
                                     "{\"transaction_id\":\"00000000-0000-0000-0000-000000000000\","
                                     "\"account_id\":\"ACC-")
                                     .size();

// ,"name":"word" or ,"name":null or nothing.
char* PutNullable(char* out, std::string_view name, uint8_t word, std::string_view text) {
  if (word == NeobankEvent::kAbsent) return out;
  out = NeobankText::Put(out, name);
  if (word == NeobankEvent::kNull) return NeobankText::Put(out, "null");
  *out++ = '"';
  out = NeobankText::Put(out, text);
  *out++ = '"';
  return out;
}

template <typename Words>
std::string_view WordAt(const Words& words, uint8_t word) {
  return word < words.size() ? words[word] : std::string_view();
}

std::string_view CategoryJson(uint8_t category) {
  return category < kNeobankCategories.size() ? kNeobankCategories[category].json : std::string_view();
}

}  // namespace

char* NeobankEncoder::Encode(char* out, const NeobankEvent& event) {
  char* line = out;
  switch (event.defect) {
    case NeobankDefect::kNone:
      out = EncodeIntact(out, event);
      break;
    case NeobankDefect::kNullField:
    case NeobankDefect::kMissingField:
    case NeobankDefect::kAmountIsWord:
      out = EncodeBroken(out, event);
      break;
    case NeobankDefect::kTruncated: {
      // The closing brace is always lost, the opening one never.
      const size_t length = static_cast<size_t>(EncodeIntact(out, event) - out);
      out += std::max<size_t>(1, (length - 1) * event.cut / 256);
      break;
    }
    case NeobankDefect::kNotJson:
      out = NeobankText::Put(out, kNotJsonLine);
      break;
    case NeobankDefect::kControlByte:
      out = EncodeIntact(out, event);
      line[kAccountDigit] = '\x01';
      break;
    case NeobankDefect::kInvalidUtf8:
      out = EncodeIntact(out, event);
      line[kAccountDigit] = '\xff';
      break;
  }
  *out++ = '\n';
  DCHECK(out - line <= NeobankText::kLongestLine);
  return out;
}

// The straight path of nearly every row.
char* NeobankEncoder::EncodeIntact(char* out, const NeobankEvent& event) {
  out = NeobankText::Put(out, "{\"transaction_id\":\"");
  out = NeobankText::PutUuid(out, event.id_high, event.id_low);
  out = NeobankText::Put(out, "\",\"account_id\":\"");
  out = NeobankText::PutAccount(out, event.account);
  out = NeobankText::Put(out, "\",\"merchant_id\":\"");
  out = NeobankText::PutMerchant(out, event.merchant);
  out = NeobankText::Put(out, "\",\"amount\":");
  out = NeobankText::PutCents(out, event.cents);
  out = NeobankText::Put(out, ",\"currency\":\"");
  out = NeobankText::Put(out, kNeobankCurrencies[event.currency]);
  out = NeobankText::Put(out, "\",\"timestamp\":\"");
  out = text_.PutTimestamp(out, event.timestamp_ms);
  *out++ = '"';
  out = PutNullable(out, ",\"channel\":", event.channel, WordAt(kNeobankChannels, event.channel));
  out = PutNullable(out, ",\"country_code\":", event.country, WordAt(kNeobankCountries, event.country));
  out = NeobankText::Put(out, ",\"status\":\"");
  out = NeobankText::Put(out, kNeobankStatuses[event.status]);
  *out++ = '"';
  out = PutNullable(out, ",\"merchant_category\":", event.category, CategoryJson(event.category));
  *out++ = '}';
  return out;
}

// Field by field: one field is null, left out, or (amount) a word.
char* NeobankEncoder::EncodeBroken(char* out, const NeobankEvent& event) {
  *out++ = '{';
  for (int field = 0; field < static_cast<int>(kNeobankFields.size()); ++field) {
    const bool broken = event.defect != NeobankDefect::kAmountIsWord && field == event.broken_field;
    if (broken && event.defect == NeobankDefect::kMissingField) continue;
    if (out[-1] != '{') *out++ = ',';
    *out++ = '"';
    out = NeobankText::Put(out, kNeobankFields[field]);
    out = NeobankText::Put(out, "\":");
    out = broken ? NeobankText::Put(out, "null") : PutValue(out, event, field);
  }
  *out++ = '}';
  return out;
}

char* NeobankEncoder::PutValue(char* out, const NeobankEvent& event, int field) {
  if (field == 3) {
    if (event.defect == NeobankDefect::kAmountIsWord) return NeobankText::Put(out, "\"twelve\"");
    return NeobankText::PutCents(out, event.cents);
  }
  const uint8_t word = field == 6   ? event.channel
                       : field == 7 ? event.country
                       : field == 9 ? event.category
                                    : 0;
  if (word >= NeobankEvent::kAbsent) return NeobankText::Put(out, "null");
  *out++ = '"';
  switch (field) {
    case 0:
      out = NeobankText::PutUuid(out, event.id_high, event.id_low);
      break;
    case 1:
      out = NeobankText::PutAccount(out, event.account);
      break;
    case 2:
      out = NeobankText::PutMerchant(out, event.merchant);
      break;
    case 4:
      out = NeobankText::Put(out, kNeobankCurrencies[event.currency]);
      break;
    case 5:
      out = text_.PutTimestamp(out, event.timestamp_ms);
      break;
    case 6:
      out = NeobankText::Put(out, kNeobankChannels[event.channel]);
      break;
    case 7:
      out = NeobankText::Put(out, kNeobankCountries[event.country]);
      break;
    case 8:
      out = NeobankText::Put(out, kNeobankStatuses[event.status]);
      break;
    default:
      out = NeobankText::Put(out, CategoryJson(event.category));
      break;
  }
  *out++ = '"';
  return out;
}

}  // namespace caudal
