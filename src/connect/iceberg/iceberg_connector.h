// IcebergConnector: 'connector' = 'iceberg', tables of an Iceberg catalog.
//
// Option names are those of Iceberg's connector for Flink; what it does not have begins with "caudal."
// (docs/connectors/iceberg.md).
#pragma once

#include "api/connector.h"

namespace caudal {

class IcebergConnector : public Connector {
 public:
  std::string_view name() const override { return "iceberg"; }
  std::span<const OptionSpec> options() const override;
  bool can_read() const override { return true; }
  bool can_write() const override { return true; }
  bool can_look_up() const override { return true; }
  Status CheckOptions(const Table& table) const override;
  std::vector<Field> metadata() const override;
  Result<ChangelogKinds> source_changelog(const Table& table) const override;
  Result<ChangelogKinds> sink_changelog(const Table& table) const override;
  std::span<const OptionSpec> catalog_options() const override;
  Result<std::unique_ptr<ExternalCatalog>> MakeCatalog(const std::string& catalog, const Options& options,
                                                       const ConnectorContext& context) const override;
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
  Result<std::unique_ptr<LookupReader>> MakeLookup(const Table& table, const LookupRequest& request,
                                                   const ConnectorContext& context) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
};

}  // namespace caudal
