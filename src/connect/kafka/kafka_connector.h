// Connector 'kafka': topics as an append-only table, read and written exactly once, with Flink's option
// names.
#pragma once

#include "api/connector.h"

namespace caudal {

class KafkaConnector : public Connector {
 public:
  std::string_view name() const override { return "kafka"; }
  std::span<const OptionSpec> options() const override;
  std::vector<Field> metadata() const override;
  bool can_read() const override { return true; }
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
  bool can_write() const override { return true; }
  Status CheckOptions(const Table& table) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
};

}  // namespace caudal
