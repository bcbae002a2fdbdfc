// FilesystemConnector: 'connector' = 'filesystem', tables in folders of NDJSON, raw lines or Parquet.
//
// Reads a folder once or watches it; writes files that appear by rename when their epoch commits. Option
// names are Flink's; what Flink does not have begins with "caudal." (docs/connectors/filesystem.md).
#pragma once

#include "api/connector.h"

namespace caudal {

class FilesystemConnector : public Connector {
 public:
  std::string_view name() const override { return "filesystem"; }
  std::span<const OptionSpec> options() const override;
  std::vector<Field> metadata() const override;
  bool can_read() const override { return true; }
  bool can_write() const override { return true; }
  Status CheckOptions(const Table& table) const override;
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
};

}  // namespace caudal
