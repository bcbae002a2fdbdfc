#include "demo/neobank_report.h"

#include <fmt/format.h>

#include <iterator>

#include "demo/neobank_files.h"

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

char* PutNumber(char* out, int64_t number) { return fmt::format_to(out, "{}", number); }

// DECIMAL(38,6)
char* PutAverage(char* out, int64_t millionths) {
  return fmt::format_to(out, "{}.{:06}", millionths / 1'000'000, millionths % 1'000'000);
}

std::string FeatureTotals(NeobankExpectation* expectation, NeobankFeatureTable table) {
  int64_t rows = 0, count = 0, cents = 0, merchants = 0;
  Visit(expectation, table, [&](const NeobankFeature& feature) {
    ++rows;
    count += feature.count;
    cents += feature.cents;
    merchants += feature.distinct_merchants;
  });
  return fmt::format(
      R"({{"rows": {}, "txn_count": {}, "amount_cents": {}, "distinct_merchants": {}, "digest": "{}"}})",
      rows, count, cents, merchants, NeobankFeatureDigest(expectation, table).ToString());
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
  fmt::format_to(out, "]}},\n  \"features\": {{\n    \"every_window\": {},\n    \"latest\": {}}}\n}}\n",
                 FeatureTotals(expectation, NeobankFeatureTable::kEveryWindow),
                 FeatureTotals(expectation, NeobankFeatureTable::kLatest));
  return json;
}

RowDigest NeobankFeatureDigest(NeobankExpectation* expectation, NeobankFeatureTable table) {
  RowDigest digest;
  NeobankText text;
  Visit(expectation, table, [&](const NeobankFeature& feature) {
    char line[NeobankText::kLongestLine];
    char* end = NeobankText::PutAccount(line, feature.account);
    *end++ = '\t';
    end = text.PutTimestamp(end, feature.window_end_ms);
    *end++ = '\t';
    end = PutNumber(end, feature.count);
    *end++ = '\t';
    end = PutAverage(end, feature.average_millionths);
    digest.Add({line, static_cast<size_t>(end - line)});
  });
  return digest;
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
                            const TextSink& write) {
  std::string piece = "file\toffset\tfate\n";
  for (const NeobankRejected& row : expectation.rejected()) {
    if (dead_letters_only && !IsDeadLetter(row.fate)) continue;
    fmt::format_to(std::back_inserter(piece), "{}\t{}\t{}\n", NeobankFiles::NameOf(row.file), row.offset,
                   NeobankFateName(row.fate));
    if (piece.size() < kPiece) continue;
    RETURN_IF_ERROR(write(piece));
    piece.clear();
  }
  return write(piece);
}

}  // namespace caudal
