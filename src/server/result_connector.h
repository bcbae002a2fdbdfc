// ResultConnector: where the rows of a bare SELECT go: to a function, as they come.
//
// One for a SELECT, which it must outlive. The function is called by one thread at a time, never two at once.
#pragma once

#include <functional>
#include <mutex>

#include "api/connector.h"

namespace caudal {

// Shows the rows of a chunk (its selection and kinds count); an error ends the query.
using RowsConsumer = std::function<Status(const Chunk&)>;

class ResultConnector : public Connector {
 public:
  static constexpr std::string_view kName = "caudal-result";

  explicit ResultConnector(RowsConsumer consumer) : consumer_(std::move(consumer)) {}

  std::string_view name() const override { return kName; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_write() const override { return true; }
  Result<ChangelogKinds> sink_changelog(const Table&) const override { return ChangelogKinds::All(); }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;

  Status Consume(const Chunk& chunk) const;

 private:
  RowsConsumer consumer_;
  mutable std::mutex mutex_;
};

// The table that a plan's last Sink writes to; its columns are those of `result` that are not hidden.
Table ResultTable(const Schema& result);

}  // namespace caudal
