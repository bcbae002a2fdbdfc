// LookupOptions: what a table's 'lookup.…' options say, under Flink's names, and how connectors list them.
// Plain data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/connector.h"
#include "api/table.h"
#include "base/status.h"

namespace caudal {

struct LookupOptions {
  bool cached = false;                     // 'lookup.cache' = 'PARTIAL'
  int64_t max_rows = 0;                    // keys that are remembered, in each task; 0 = any number
  int64_t expire_after_write_millis = 0;   // 0 = never
  int64_t expire_after_access_millis = 0;  // the same
  bool caches_missing = true;              // also that a key has no rows

  // User error that quotes the option whose value is wrong.
  static Result<LookupOptions> From(const Table& table);
};

// A connector's own options and those of lookups.
std::vector<OptionSpec> WithLookupOptions(std::span<const OptionSpec> own);

}  // namespace caudal
