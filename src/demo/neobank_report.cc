#include "demo/neobank_report.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace caudal {
namespace {

constexpr size_t kPiece = 256 * 1024;

void Visit(NeobankExpectation* expectation, NeobankFeatureTable table,
           const NeobankFeatures::Visitor& visit) {
  if (table == NeobankFeatureTable::kLatest) {
    expectation->features().ForEachLatest(visit);
  } else {
    expectation->features().ForEachWindow(visit);
  }
}

// REQUIRES: number >= 0
char* PutNumber(char* out, int64_t number) { return std::to_chars(out, out + 20, number).ptr; }

// DECIMAL(38,6)
char* PutAverage(char* out, int64_t millionths) {
  out = PutNumber(out, millionths / 1'000'000);
  *out = '.';
  int64_t rest = millionths % 1'000'000;
  for (char* digit = out + 6; digit > out; --digit, rest /= 10) *digit = static_cast<char>('0' + rest % 10);
  return out + 7;
}

// What the report says of one features table.
class FeatureTotals {
 public:
  void Add(const NeobankFeature& feature) {
    count_ += feature.count;
    cents_ += feature.cents;
    merchants_ += feature.distinct_merchants;
    char line[NeobankText::kLongestLine];
    char* end = NeobankText::PutAccount(line, feature.account);
    *end++ = '\t';
    end = text_.PutTimestamp(end, feature.window_end_ms);
    *end++ = '\t';
    end = PutNumber(end, feature.count);
    *end++ = '\t';
    end = PutAverage(end, feature.average_millionths);
    digest_.Add({line, static_cast<size_t>(end - line)});
  }
  std::string ToJson() const {
    return fmt::format(
        R"({{"rows": {}, "txn_count": {}, "amount_cents": {}, "distinct_merchants": {}, "digest": "{}"}})",
        digest_.rows(), count_, cents_, merchants_, digest_.ToString());
  }

 private:
  int64_t count_ = 0, cents_ = 0, merchants_ = 0;
  RowDigest digest_;
  NeobankText text_;
};

// Both tables in one pass over the windows, which takes longer than all else in the report.
std::string FeaturesJson(NeobankFeatures* features) {
  FeatureTotals every, latest;
  NeobankFeature newest{};  // of the account at hand
  features->ForEachWindow([&](const NeobankFeature& feature) {
    every.Add(feature);
    if (newest.count > 0 && newest.account != feature.account) latest.Add(newest);
    newest = feature;
  });
  if (newest.count > 0) latest.Add(newest);
  return fmt::format("\n    \"every_window\": {},\n    \"latest\": {}", every.ToJson(), latest.ToJson());
}

bool IsDeadLetter(NeobankFate fate) {
  return fate == NeobankFate::kMalformed || fate == NeobankFate::kContract || fate == NeobankFate::kLate;
}

}  // namespace

std::string NeobankExpectationJson(NeobankExpectation* expectation) {
  const auto count = [expectation](NeobankFate fate) { return expectation->count(fate); };
  std::string json = fmt::format("{{\n  \"events\": {},\n", expectation->events());
  const auto out = std::back_inserter(json);
  fmt::format_to(out,
                 "  \"fates\": {{\"published\": {}, \"filtered\": {{\"status_completed\": {}, "
                 "\"amount_positive\": {}}}, "
                 "\"late\": {}, \"duplicate\": {}, \"malformed\": {}, \"contract\": {}}},\n",
                 count(NeobankFate::kPublished), count(NeobankFate::kStatusFiltered),
                 count(NeobankFate::kAmountFiltered), count(NeobankFate::kLate),
                 count(NeobankFate::kDuplicate), count(NeobankFate::kMalformed),
                 count(NeobankFate::kContract));
  fmt::format_to(out, "  \"published_again\": {},\n", expectation->published_again());
  fmt::format_to(
      out,
      "  \"silver\": {{\"rows\": {}, \"amount_cents\": {}, \"digest\": \"{}\", \"id_digest\": \"{}\", "
      "\"partitions\": [",
      expectation->silver().rows(), expectation->silver_cents(), expectation->silver().ToString(),
      expectation->silver_ids().ToString());
  const char* between = "";
  for (const auto& [hour, partition] : expectation->silver_partitions()) {
    char date[NeobankText::kLongestValue];
    const char* end = NeobankText::PutDate(date, hour * 3'600'000);
    fmt::format_to(out, "{}\n    {{\"date\": \"{}\", \"hour\": {}, \"rows\": {}, \"amount_cents\": {}}}",
                   between, std::string_view(date, static_cast<size_t>(end - date)), hour % 24,
                   partition.rows, partition.cents);
    between = ",";
  }
  fmt::format_to(out, "]}},\n  \"features\": {{{}}}\n}}\n", FeaturesJson(&expectation->features()));
  return json;
}

Status WriteNeobankFeatures(NeobankExpectation* expectation, NeobankFeatureTable table,
                            const TextSink& write) {
  std::string piece =
      "account_id\twindow_start\twindow_end\ttxn_count_1h\tsum_amount_1h\tavg_amount_1h\tdistinct_merchants_"
      "1h\n";
  NeobankText text;
  Status status;
  Visit(expectation, table, [&](const NeobankFeature& feature) {
    if (!status.ok()) return;
    char line[NeobankText::kLongestLine];
    char* end = NeobankText::PutAccount(line, feature.account);
    *end++ = '\t';
    end = text.PutTimestamp(
        end, feature.window_end_ms - NeobankFeatures::kWindowSlides * NeobankFeatures::kSlideMs);
    *end++ = '\t';
    end = text.PutTimestamp(end, feature.window_end_ms);
    *end++ = '\t';
    end = PutNumber(end, feature.count);
    *end++ = '\t';
    end = NeobankText::PutCents(end, feature.cents);
    *end++ = '\t';
    end = PutAverage(end, feature.average_millionths);
    *end++ = '\t';
    end = PutNumber(end, feature.distinct_merchants);
    *end++ = '\n';
    piece.append(line, static_cast<size_t>(end - line));
    if (piece.size() < kPiece) return;
    status = write(piece);
    piece.clear();
  });
  RETURN_IF_ERROR(std::move(status));
  return write(piece);
}

Status WriteNeobankRejected(const NeobankExpectation& expectation, bool dead_letters_only,
                            const std::function<std::string(uint32_t)>& name_of, const TextSink& write) {
  std::string piece = "file\toffset\tfate\n";
  for (const NeobankRejected& row : expectation.rejected()) {
    if (dead_letters_only && !IsDeadLetter(row.fate)) continue;
    fmt::format_to(std::back_inserter(piece), "{}\t{}\t{}\n", name_of(row.part), row.offset,
                   NeobankFateName(row.fate));
    if (piece.size() < kPiece) continue;
    RETURN_IF_ERROR(write(piece));
    piece.clear();
  }
  return write(piece);
}

}  // namespace caudal
