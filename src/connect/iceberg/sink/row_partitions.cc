#include "connect/iceberg/sink/row_partitions.h"

#include <fmt/format.h>

#include "connect/iceberg/iceberg_types.h"
#include "iceberg/partition_path.h"
#include "iceberg/single_value.h"

namespace caudal {
namespace {

constexpr size_t kLongestName = 200;    // of a folder; file systems take 255 bytes
constexpr size_t kLongestPath = 1'000;  // of all of them

// Appends a value so that two keys are the same only if the values are.
void AppendKey(const iceberg::Type& type, const Value& value, std::string* key) {
  if (value.is_null()) {
    key->push_back('\0');
    return;
  }
  const std::string bytes = iceberg::EncodeSingleValue(type, value);
  key->push_back('\1');
  for (size_t size = bytes.size();; size >>= 7) {
    key->push_back(static_cast<char>(size < 128 ? size : (size & 127) | 128));
    if (size < 128) break;
  }
  key->append(bytes);
}

bool IsTooLong(const std::string& path) {
  if (path.size() > kLongestPath) return true;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end - begin > kLongestName) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string RowPartitions::FolderOf(const std::string& key, const std::vector<Value>& values) const {
  std::string path = iceberg::PartitionPath(plan_->spec, plan_->partition_types, values);
  if (!IsTooLong(path)) return path + "/";
  // Folders are for people; the metadata says which partition a file has.
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("{:016x}/", hash);
}

const std::vector<PartitionShare>& RowPartitions::Split(const Chunk& chunk) {
  shares_.clear();
  share_of_.clear();
  const RowSet rows = chunk.rows();
  std::string key;
  std::vector<Value> values(plan_->partition.size());
  for (int32_t i = 0; i < rows.count; ++i) {
    key.clear();
    for (size_t field = 0; field < values.size(); ++field) {
      const IcebergPartitionField& by = plan_->partition[field];
      values[field] = Value();
      if (by.column >= 0) {
        const Value value = IcebergValue(by.source, ValueAt(*chunk.column(by.column), rows[i]));
        values[field] = by.transform.Apply(by.source, value);
      }
      AppendKey(plan_->partition_types[field], values[field], &key);
    }
    const auto [found, is_new] = share_of_.emplace(key, shares_.size());
    if (is_new) {
      shares_.push_back({key, {}});
      if (!partitions_.contains(key)) {
        partitions_.emplace(key, Partition{values, values.empty() ? "" : FolderOf(key, values)});
      }
    }
    shares_[found->second].rows.push_back(static_cast<uint16_t>(rows[i]));
  }
  return shares_;
}

}  // namespace caudal
