// ForEachTable: what a command does to each table that it is about, one after the other.
#pragma once

#include <functional>

#include "server/cli/lake/lake_table.h"
#include "server/cli/lake/table_command.h"

namespace caudal {

// Ends with the first code that is not 0.
int ForEachTable(const TableCommand& command, Console& console,
                 const std::function<int(const LakeTable&)>& each);

}  // namespace caudal
