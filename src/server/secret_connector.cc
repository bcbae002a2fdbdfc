#include "server/secret_connector.h"

#include <fmt/format.h>

#include "base/secret.h"

namespace caudal {
namespace {

Result<Table> WithSecrets(const Table& table) {
  Table expanded = table;
  for (auto& [name, value] : expanded.options) {
    Result<std::string> text = Secrets::Expand(value);
    if (!text.ok())
      return std::move(text).status().At(fmt::format("option '{}' of table '{}'", name, table.name));
    value = std::move(text).value();
  }
  return expanded;
}

}  // namespace

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
