#include "iceberg/manifest/partition_key.h"

#include <cmath>

namespace caudal::iceberg {

std::string PartitionKey(int32_t spec_id, const std::vector<Value>& partition) {
  std::string key = std::to_string(spec_id);
  for (const Value& value : partition) {
    key.push_back(static_cast<char>('0' + value.data.index()));
    std::visit(
        [&key](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::string>) {
            key += std::to_string(v.size()) + ":" + v;
          } else if constexpr (std::is_same_v<T, double>) {
            const double number = std::isnan(v) ? std::nan("") : v;
            key.append(reinterpret_cast<const char*>(&number), sizeof(number));
          } else if constexpr (!std::is_same_v<T, std::monostate> && !std::is_same_v<T, ValueList>) {
            key.append(reinterpret_cast<const char*>(&v), sizeof(v));
          }
        },
        value.data);
  }
  return key;
}

}  // namespace caudal::iceberg
