// FunctionReference: docs/functions.md as text, made from the tables of functions, so that it cannot be
// stale; and what it says about table functions, which are bound in sql/.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "expr/aggregate_function.h"
#include "expr/scalar_function.h"

namespace caudal {

struct TableFunctionReference {
  std::string_view name;
  std::string_view call;       // with the names of its arguments
  std::string_view doc;        // one sentence
  std::string_view arguments;  // lines "- `name`: …"
  std::string_view output;     // its columns and what happens to rows
  std::string_view example;    // a SELECT over `clicks`, see kTableFunctionInput
};

// The table that the examples read.
inline constexpr std::string_view kTableFunctionInput =
    "CREATE TABLE clicks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
    "WITH ('connector' = 'datagen', 'number-of-rows' = '100');";

std::span<const TableFunctionReference> TableFunctions();

std::string FunctionReference();

}  // namespace caudal
