// FeedConnector: 'connector' = 'feed', the source of tests: reads what a test pushed into a FeedRegistry.
//
// Options: 'caudal.splits' (default 1), 'feed.changelog' (default 'I'; 'I,UB,UA,D' for a changelog table).
// Bounded only in that it ends when the test says so. Position: the number of rows read.
#pragma once

#include "api/connector.h"
#include "connect/feed/feed.h"

namespace caudal {

class FeedConnector : public Connector {
 public:
  // `registry` outlives the connector.
  explicit FeedConnector(FeedRegistry* registry) : registry_(registry) {}

  std::string_view name() const override { return "feed"; }
  std::span<const OptionSpec> options() const override;
  bool can_read() const override { return true; }
  Result<ChangelogKinds> source_changelog(const Table& table) const override;
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;

 private:
  FeedRegistry* registry_;
};

}  // namespace caudal
