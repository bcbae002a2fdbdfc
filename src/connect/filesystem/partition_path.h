// PartitionPath: the folders key=value/key=value that say which partition a file belongs to, as Hive and
// Flink write them. Free functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "data/column.h"
#include "data/value.h"

namespace caudal {

// "a=1/b=x%2Fy/", with characters that no folder's name may have escaped as %XX.
std::string MakePartitionPath(const std::vector<std::pair<std::string, std::string>>& values);
// The pairs of a path relative to the table's folder; parts without '=' and the file's name are left out.
std::vector<std::pair<std::string, std::string>> ParsePartitionPath(std::string_view relative);

// The value of a partition column as text, the way CAST AS STRING has it. REQUIRES: not NULL.
std::string PartitionText(const Column& column, int32_t row);
// The text as a value of the type. `text` == `null_name` is NULL. Data error if it is no such value.
Result<Value> PartitionValue(std::string_view text, const Type& type, std::string_view null_name);

// Types that can name a folder.
bool CanPartitionBy(const Type& type);

}  // namespace caudal
