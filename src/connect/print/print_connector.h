// PrintConnector: 'connector' = 'print', as in Flink: each row a line on standard output, when its epoch
// commits.
//
// "+I[1, text, null]"; with 'print-identifier' = 'x' "x> +I[…]", with several tasks "x:1> +I[…]". A terminal
// remembers nothing, so a commit that is repeated after a crash prints again: at least once.
#pragma once

#include <cstdio>

#include "api/connector.h"

namespace caudal {

class PrintConnector : public Connector {
 public:
  // `out`, `err`: where lines go ('standard-error' = 'true' chooses `err`); outlive the connector.
  explicit PrintConnector(std::FILE* out = stdout, std::FILE* err = stderr) : out_(out), err_(err) {}

  std::string_view name() const override { return "print"; }
  std::span<const OptionSpec> options() const override;
  bool can_write() const override { return true; }
  Result<ChangelogKinds> sink_changelog(const Table&) const override { return ChangelogKinds::All(); }
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override;

 private:
  std::FILE* out_;
  std::FILE* err_;
};

}  // namespace caudal
