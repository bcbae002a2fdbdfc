// RedisLedger: the keys by which a sink tells what the server, or each slot of a cluster, has of it.
//
// Plain data; docs/formats/redis-segment.md says what each holds. All begin with "caudal:ledger:".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "api/connector.h"
#include "connect/redis/server/redis_slot.h"

namespace caudal {

inline constexpr std::string_view kRedisLedgerPrefix = "caudal:ledger:";

struct RedisLedger {
  std::string owner;  // of the rows: "<query>@<identity>:<sink>"

  static RedisLedger Of(const ConnectorContext& context) {
    return {fmt::format("{}@{}:{}", context.query, context.identity, context.sink)};
  }

  // Which epoch is whole.
  std::string head() const { return "caudal:ledger:" + owner; }
  // In a cluster: which epoch's rows the slot has; it lies in that slot.
  std::string of_slot(int slot) const {
    return fmt::format("caudal:ledger:{{{}}}:{}", RedisSlotTag(slot), owner);
  }
  // In a cluster: what was written last of an epoch to the server that had the slot.
  std::string mark_in(int slot) const {
    return fmt::format("caudal:ledger:mark:{{{}}}:{}", RedisSlotTag(slot), owner);
  }
};

}  // namespace caudal
