// Connector 'upsert-kafka': a changelog into a topic by primary key, with Flink's option names: the last row
// of a key and epoch, a record without value for a delete.
#pragma once

#include "api/connector.h"

namespace caudal {

class UpsertKafkaConnector : public Connector {
 public:
  std::string_view name() const override { return "upsert-kafka"; }
  std::span<const OptionSpec> options() const override;
  std::vector<Field> metadata() const override;
  bool can_write() const override { return true; }
  Status CheckOptions(const Table& table) const override;
  Result<ChangelogKinds> sink_changelog(const Table&) const override { return ChangelogKinds::Upsert(); }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
};

}  // namespace caudal
