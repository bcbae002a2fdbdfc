#include "demo/neobank_features.h"

#include <algorithm>
#include <tuple>

namespace caudal {

void NeobankFeatures::Add(const NeobankEvent& event) {
  rows_.push_back({event.account, static_cast<uint32_t>(event.timestamp_ms / kSlideMs), event.merchant,
                   static_cast<uint32_t>(event.cents)});
  if (event.merchant >= merchant_rows_.size()) merchant_rows_.resize(event.merchant + 1);
  sorted_ = false;
}

void NeobankFeatures::Sort() {
  if (sorted_) return;
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::tie(a.account, a.minute) < std::tie(b.account, b.minute);
  });
  sorted_ = true;
}

void NeobankFeatures::ForEachWindow(const Visitor& visit) {
  Sort();
  const Row* end = rows_.data() + rows_.size();
  for (const Row* first = rows_.data(); first != end;) {
    const uint32_t account = first->account;
    const Row* last = std::find_if(first, end, [account](const Row& row) { return row.account != account; });
    VisitAccount(first, last, visit);
    first = last;
  }
}

// Slides the window over the account's rows: each row enters once and leaves once. A window that ends at
// minute e holds the minutes e - 60 to e - 1.
void NeobankFeatures::VisitAccount(const Row* first, const Row* last, const Visitor& visit) {
  const Row* oldest = first;
  const Row* next = first;
  NeobankFeature feature{first->account, 0, 0, 0, 0, 0};
  int64_t end_minute = 0;
  while (next != last || oldest != last) {
    end_minute = oldest == next ? int64_t{next->minute} + 1 : end_minute + 1;
    for (; oldest != next && oldest->minute < end_minute - kWindowSlides; ++oldest) {
      --feature.count;
      feature.cents -= oldest->cents;
      if (--merchant_rows_[oldest->merchant] == 0) --feature.distinct_merchants;
    }
    for (; next != last && next->minute < end_minute; ++next) {
      ++feature.count;
      feature.cents += next->cents;
      if (merchant_rows_[next->merchant]++ == 0) ++feature.distinct_merchants;
    }
    if (oldest == next) continue;
    feature.window_end_ms = end_minute * kSlideMs;
    feature.average_millionths = (2 * feature.cents * 10'000 + feature.count) / (2 * feature.count);
    visit(feature);
  }
}

void NeobankFeatures::ForEachLatest(const Visitor& visit) {
  NeobankFeature latest{};
  ForEachWindow([&](const NeobankFeature& feature) {
    if (latest.count > 0 && latest.account != feature.account) visit(latest);
    latest = feature;
  });
  if (latest.count > 0) visit(latest);
}

}  // namespace caudal
