#include "server/secret_connector.h"

#include <fmt/format.h>

#include "base/secret.h"

namespace caudal {
namespace {

Result<Options> Expanded(Options options, const std::string& owner) {
  for (auto& [name, value] : options) {
    Result<std::string> text = Secrets::Expand(value);
    if (!text.ok()) return std::move(text).status().At(fmt::format("option '{}' of {}", name, owner));
    value = std::move(text).value();
  }
  return options;
}

Result<Table> WithSecrets(const Table& table) {
  Table expanded = table;
  ASSIGN_OR_RETURN(expanded.options, Expanded(table.options, fmt::format("table '{}'", table.name)));
  return expanded;
}

}  // namespace

Result<std::unique_ptr<ExternalCatalog>> SecretConnector::MakeCatalog(const std::string& catalog,
                                                                      const Options& options,
                                                                      const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(const Options expanded, Expanded(options, fmt::format("catalog '{}'", catalog)));
  return inner_->MakeCatalog(catalog, expanded, context);
}

Result<std::unique_ptr<Source>> SecretConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                            const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(const Table expanded, WithSecrets(table));
  return inner_->MakeSource(expanded, request, context);
}

Result<std::unique_ptr<Sink>> SecretConnector::MakeSink(const Table& table,
                                                        const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(const Table expanded, WithSecrets(table));
  return inner_->MakeSink(expanded, context);
}

Result<std::unique_ptr<LookupReader>> SecretConnector::MakeLookup(const Table& table,
                                                                  const LookupRequest& request,
                                                                  const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(const Table expanded, WithSecrets(table));
  return inner_->MakeLookup(expanded, request, context);
}

}  // namespace caudal
