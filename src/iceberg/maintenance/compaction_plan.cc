#include "iceberg/maintenance/compaction_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/partition_key.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kTargetFileBytes = int64_t{512} << 20;
constexpr double kSmall = 0.75, kLarge = 1.8;

class Planner {
 public:
  Planner(const TableMetadata& table, const ScanPlan& scan, const CompactionOptions& options)
      : table_(table), scan_(scan), options_(options) {
    target_ = options.target_file_size_bytes.value_or(
        NumberProperty(table, "write.target-file-size-bytes", kTargetFileBytes));
    small_ =
        options.min_file_size_bytes.value_or(static_cast<int64_t>(kSmall * static_cast<double>(target_)));
    large_ =
        options.max_file_size_bytes.value_or(static_cast<int64_t>(kLarge * static_cast<double>(target_)));
  }

  Result<CompactionPlan> Plan() {
    if (target_ < 1 || small_ > target_ || large_ <= target_) {
      return Status::User(fmt::format("files of {} bytes are wanted, and {} is too small, {} too large",
                                      target_, small_, large_))
          .Hint("--min-file-size must not exceed --target-file-size, which must be below --max-file-size");
    }
    std::map<std::string, std::vector<size_t>> partitions;
    for (size_t i = 0; i < scan_.files.size(); ++i) {
      const ScanFile& file = scan_.files[i];
      if (!IsCandidate(file)) continue;
      const std::string why = Obstacle(file);
      if (why.empty()) {
        partitions[PartitionKey(file.data.spec_id, file.data.file.partition)].push_back(i);
      } else {
        ++obstacles_[why];
      }
    }
    for (auto& [key, files] : partitions) Pack(files);
    plan_.left_out.assign(obstacles_.begin(), obstacles_.end());
    return std::move(plan_);
  }

 private:
  const DataFile& File(size_t number) const { return scan_.files[number].data.file; }

  bool HasManyDeletes(const ScanFile& file) const {
    if (file.deletes.empty()) return false;
    if (static_cast<int64_t>(file.deletes.size()) >= options_.delete_file_threshold) return true;
    const auto rows = static_cast<double>(std::max<int64_t>(1, file.data.file.record_count));
    return static_cast<double>(KnownDeletes(scan_, file)) / rows >= options_.delete_ratio_threshold;
  }

  bool IsCandidate(const ScanFile& file) const {
    const int64_t bytes = file.data.file.file_size_in_bytes;
    return options_.rewrite_all || bytes < small_ || bytes > large_ || HasManyDeletes(file);
  }

  std::string Obstacle(const ScanFile& file) const {
    const DataFile& data = file.data.file;
    if (data.file_format != "PARQUET" && data.file_format != "parquet")
      return fmt::format("of format {}, which is not read", data.file_format);
    for (const size_t number : file.deletes) {
      if (scan_.deletes[number].file.content == FileContent::kEqualityDeletes)
        return "with equality deletes, which are not read yet";
    }
    const PartitionSpec* spec = table_.FindSpec(file.data.spec_id);
    const bool writable =
        spec != nullptr && PartitionTypes(*table_.FindSchema(table_.current_schema_id), *spec).ok();
    return writable ? "" : "of a partition spec that cannot be written any more";
  }

  // What of a file will be left.
  int64_t Weight(size_t number) const {
    const ScanFile& file = scan_.files[number];
    const int64_t rows = std::max<int64_t>(1, file.data.file.record_count);
    const int64_t live = rows - std::min(rows, KnownDeletes(scan_, file));
    return static_cast<int64_t>(static_cast<double>(file.data.file.file_size_in_bytes) *
                                static_cast<double>(live) / static_cast<double>(rows));
  }

  // What was put together is not put together again for a little more.
  void LeaveOutLarge(std::vector<size_t>* files) const {
    std::vector<size_t> small;
    for (const size_t file : *files) {
      const bool is_small = File(file).file_size_in_bytes <= large_ && !HasManyDeletes(scan_.files[file]);
      if (is_small) small.push_back(file);
    }
    const auto size = [&](size_t file) { return File(file).file_size_in_bytes; };
    std::sort(small.begin(), small.end(), [&](size_t a, size_t b) { return size(a) < size(b); });
    int64_t smaller = 0;
    for (const size_t file : small) smaller += size(file);
    while (!small.empty()) {
      const size_t largest = small.back();
      smaller -= size(largest);
      if (size(largest) <= smaller) return;
      std::erase(*files, largest);
      small.pop_back();
    }
  }

  // Files of one partition, in the order in which their rows came.
  void Pack(std::vector<size_t>& files) {
    if (options_.by_size) LeaveOutLarge(&files);
    const auto number = [&](size_t file) { return scan_.files[file].data.sequence_number; };
    std::stable_sort(files.begin(), files.end(), [&](size_t a, size_t b) { return number(a) < number(b); });
    std::vector<size_t> open;
    int64_t weight = 0;
    for (const size_t file : files) {
      const int64_t more = Weight(file);
      if (!open.empty() && weight + more > target_) {
        Close(open, /*full=*/true);
        open.clear();
        weight = 0;
      }
      open.push_back(file);
      weight += more;
    }
    Close(open, /*full=*/false);
  }

  void Close(const std::vector<size_t>& files, bool full) {
    const auto has_reason = [&](size_t file) {
      return File(file).file_size_in_bytes > large_ || HasManyDeletes(scan_.files[file]);
    };
    const auto count = static_cast<int64_t>(files.size());
    const bool worth = (count > 1 && (full || count >= options_.min_input_files)) ||
                       std::any_of(files.begin(), files.end(), has_reason) ||
                       (options_.rewrite_all && count > 0);
    if (!worth) return;
    CompactionGroup group{.files = files};
    int64_t weight = 0;
    for (const size_t file : files) {
      group.bytes += File(file).file_size_in_bytes;
      weight += Weight(file);
    }
    // A little above the target rather than a small rest in a second file.
    group.file_bytes = weight > large_ ? target_ : target_ + (large_ - target_) / 2;
    plan_.groups.push_back(std::move(group));
  }

  const TableMetadata& table_;
  const ScanPlan& scan_;
  const CompactionOptions& options_;
  int64_t target_ = 0, small_ = 0, large_ = 0;
  std::map<std::string, int64_t> obstacles_;
  CompactionPlan plan_;
};

}  // namespace

int64_t KnownDeletes(const ScanPlan& scan, const ScanFile& file) {
  int64_t rows = 0;
  for (const size_t number : file.deletes) {
    const DataFile& deletes = scan.deletes[number].file;
    if (deletes.referenced_data_file) rows += deletes.record_count;
  }
  return rows;
}

Result<CompactionPlan> PlanCompaction(const TableMetadata& table, const ScanPlan& scan,
                                      const CompactionOptions& options) {
  return Planner(table, scan, options).Plan();
}

}  // namespace caudal::iceberg
