// IcebergSink: rows appended to an Iceberg table, exactly once: one snapshot an epoch, with a token by which
// a commit whose answer was lost is found again.
//
// MakeCommitter comes first and makes the table if the catalog has none; the writers then share what it
// found.
#pragma once

#include <memory>

#include "api/connector.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"

namespace caudal {

class IcebergSink : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> Make(const Table& table, const ConnectorContext& context);

  ChangelogKinds accepts() const override { return ChangelogKinds::InsertOnly(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Status CheckTarget() const override;
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;

 private:
  IcebergSink(const Table& table, IcebergOptions options, const ConnectorContext& context)
      : table_(table), options_(std::move(options)), context_(context) {}
  Status Open();
  Result<IcebergSinkPlan> Prepare();

  Table table_;
  IcebergOptions options_;
  ConnectorContext context_;
  std::unique_ptr<const IcebergSinkPlan> plan_;
};

}  // namespace caudal
