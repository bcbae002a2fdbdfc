#include "server/cli/dead_letters/letter_of_record.h"

#include <charconv>
#include <utility>

#include "run/scan/dead_letter_headers.h"

namespace caudal {
namespace {

int64_t NumberOf(std::string_view text, int64_t otherwise) {
  int64_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Puts a header where it belongs; those of the reason alone have names that begin so.
void TakeHeader(const KafkaHeader& header, Letter* letter) {
  const std::string_view name = header.name;
  std::optional<std::string> value;
  if (!header.null) value = std::string(header.value);
  const bool connect = name.starts_with(kConnectErrors);
  if (!connect && !name.starts_with(kCaudalErrors)) {
    letter->headers.emplace_back(name, std::move(value));
    return;
  }
  const std::string text = value.value_or("");
  const std::string_view what = name.substr(connect ? kConnectErrors.size() : kCaudalErrors.size());
  letter->reason.emplace_back(name, std::move(value));
  if (connect && what == "topic") letter->topic = text;
  if (connect && what == "partition") letter->partition = static_cast<int32_t>(NumberOf(text, -1));
  if (connect && what == "offset") letter->offset = NumberOf(text, -1);
  if (connect && what == "exception.message") letter->message = text;
  if (connect) return;
  if (what == "file") letter->file = text;
  if (what == "query_id") letter->query = text;
  if (what == "source") letter->source = text;
  if (what == "error_class") letter->error_class = text;
  if (what == "first_seen") letter->first_seen_millis = NumberOf(text, 0);
  if (what == "timestamp") letter->timestamp_millis = NumberOf(text, -1);
}

}  // namespace

Letter LetterOfRecord(const KafkaRecords& records, size_t at) {
  Letter letter;
  const RawRecord& record = records.batch.records[at];
  if (records.no_key[at] == 0) letter.key = std::string(record.key);
  if (records.no_value[at] == 0) letter.raw = std::string(record.value);
  if (!records.header_end.empty()) {
    for (uint32_t i = at == 0 ? 0 : records.header_end[at - 1]; i < records.header_end[at]; ++i) {
      TakeHeader(records.headers[i], &letter);
    }
  }
  return letter;
}

}  // namespace caudal
