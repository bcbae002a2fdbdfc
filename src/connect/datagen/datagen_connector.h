// DatagenConnector: 'connector' = 'datagen', Flink's source of made-up rows, with its options.
//
// Row n is the same in every run, but for times, which are now: a restart goes on with row n + 1. Bounded by
// 'number-of-rows' or by the shortest sequence.
#pragma once

#include "api/connector.h"

namespace caudal {

class DatagenConnector : public Connector {
 public:
  std::string_view name() const override { return "datagen"; }
  std::span<const OptionSpec> options() const override;
  bool can_read() const override { return true; }
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override;
};

}  // namespace caudal
