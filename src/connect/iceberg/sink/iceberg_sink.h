// IcebergSink: rows into an Iceberg table, exactly once: one snapshot an epoch, with a token by which a
// commit whose answer was lost is found again. They are appended; in a table with a PRIMARY KEY the last row
// of each key takes the place of the former one.
//
// MakeCommitter comes first and makes the table if the catalog has none; the writers then share what it
// found.
#pragma once

#include <memory>

#include "api/connector.h"
#include "connect/iceberg/sink/fitting_writer.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "connect/iceberg/upsert/table_keys.h"

namespace caudal {

class IcebergSink : public Sink {
 public:
  static Result<std::unique_ptr<Sink>> Make(const Table& table, const ConnectorContext& context);

  ChangelogKinds accepts() const override { return IcebergChangelog(table_); }
  std::string_view guarantee() const override { return "exactly once"; }
  Status CheckTarget() const override;
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;

 private:
  IcebergSink(const Table& table, IcebergOptions options, const ConnectorContext& context)
      : table_(table), options_(std::move(options)), context_(context) {}
  Status Open();
  Result<IcebergSinkPlan> Prepare();
  // For the table as the catalog has it, or would have it.
  Result<IcebergSinkPlan> PlanFor(const iceberg::TableMetadata& table, std::vector<ColumnFit>* fits) const;

  Table table_;
  IcebergOptions options_;
  ConnectorContext context_;
  std::unique_ptr<const IcebergSinkPlan> plan_;
  std::vector<ColumnFit> fits_;      // of what rows bring; none: the table takes it as it is
  std::unique_ptr<TableKeys> keys_;  // of a table with a key
};

}  // namespace caudal
