// SecretConnector: a connector as it is, but ${env:NAME} in its options gets its value at the last moment.
#pragma once

#include "api/connector.h"

namespace caudal {

class SecretConnector : public Connector {
 public:
  // `inner` lives as long as the process.
  explicit SecretConnector(const Connector* inner) : inner_(inner) {}

  std::string_view name() const override { return inner_->name(); }
  std::span<const OptionSpec> options() const override { return inner_->options(); }
  std::vector<Field> metadata() const override { return inner_->metadata(); }
  bool can_read() const override { return inner_->can_read(); }
  bool can_write() const override { return inner_->can_write(); }
  bool can_look_up() const override { return inner_->can_look_up(); }
  std::vector<int> lookup_key(const Table& table) const override { return inner_->lookup_key(table); }
  Status CheckOptions(const Table& table) const override { return inner_->CheckOptions(table); }
  Result<ChangelogKinds> source_changelog(const Table& table) const override {
    return inner_->source_changelog(table);
  }
  Result<ChangelogKinds> sink_changelog(const Table& table) const override {
    return inner_->sink_changelog(table);
  }
  std::span<const OptionSpec> catalog_options() const override { return inner_->catalog_options(); }
  Result<std::unique_ptr<ExternalCatalog>> MakeCatalog(const std::string& catalog, const Options& options,
                                                       const ConnectorContext& context) const override;
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;
  Result<std::unique_ptr<LookupReader>> MakeLookup(const Table& table, const LookupRequest& request,
                                                   const ConnectorContext& context) const override;

 private:
  const Connector* inner_;
};

}  // namespace caudal
