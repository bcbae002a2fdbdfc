#include "connect/iceberg/compact/compact_table.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "connect/iceberg/compact/group_rewriter.h"

namespace caudal {
namespace {

using iceberg::CompactionGroup;
using iceberg::FileReplacement;

constexpr int kMostRounds = 3;

// Groups that threads rewrite, handed over as they are done.
class RewritePool {
 public:
  RewritePool(const RewriteSource& source, const std::vector<CompactionGroup>& groups, int threads)
      : source_(source), groups_(groups) {
    const auto wanted = std::min<size_t>(static_cast<size_t>(std::max(1, threads)), groups.size());
    for (size_t i = 0; i < wanted; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~RewritePool() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    // What nobody took is not going to be committed.
    for (const Ended& ended : done_) {
      for (const iceberg::DataFile& file : ended.made.to) {
        if (const auto path = iceberg::PathOf(file.file_path); path.ok())
          (void)source_.files->Remove(*path).ok();
      }
    }
  }

  // A group that is done, or stays as it is, since a file of it cannot be read.
  struct Ended {
    FileReplacement made;
    std::string unreadable = {};
    Status why = {};
  };
  // The next one, whichever it is.
  Result<Ended> Take() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !done_.empty() || !failed_.ok(); });
    if (done_.empty()) return failed_;
    Ended ended = std::move(done_.front());
    done_.pop_front();
    return ended;
  }

 private:
  void Work() {
    while (!stop_) {
      const size_t next = next_.fetch_add(1);
      if (next >= groups_.size()) return;
      std::string unreadable;
      Result<FileReplacement> made = RewriteGroup(source_, groups_[next], &unreadable);
      const std::lock_guard lock(mutex_);
      if (made.ok()) {
        done_.push_back({std::move(made).value()});
      } else if (!unreadable.empty()) {
        done_.push_back({{}, std::move(unreadable), made.status()});
      } else {
        if (failed_.ok()) failed_ = made.status();
        stop_ = true;
      }
      ready_.notify_one();
    }
  }

  const RewriteSource& source_;
  const std::vector<CompactionGroup>& groups_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Ended> done_;  // guarded by mutex_, as the next
  Status failed_;
  std::vector<std::thread> threads_;
};

class Compaction {
 public:
  Compaction(iceberg::Catalog* catalog, const iceberg::TableFiles& files, const iceberg::TableName& name,
             iceberg::HeadFiles* known, const CompactTableOptions& options, CompactionReport* report)
      : catalog_(catalog), files_(files), name_(name), known_(known), options_(options), report_(*report) {}

  Status Run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const int64_t lost = report_.lost;
      RETURN_IF_ERROR(Round());
      if (report_.lost == lost) break;
    }
    return Status();
  }

 private:
  Status Round() {
    ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, catalog_->LoadTable(name_));
    const iceberg::TableMetadata& table = loaded.metadata;
    const iceberg::SnapshotRef* ref = table.FindRef(options_.commit.branch);
    if (ref == nullptr) return Status();  // it has no snapshot yet
    const iceberg::Snapshot& head = *table.FindSnapshot(ref->snapshot_id);
    RETURN_IF_ERROR(iceberg::CheckHistory(name_, head));
    ASSIGN_OR_RETURN(const iceberg::ScanPlan scan, iceberg::PlanScan(files_, table, head));
    ASSIGN_OR_RETURN(iceberg::CompactionPlan plan, iceberg::PlanCompaction(table, scan, options_.what));
    report_.left_out = plan.left_out;
    if (plan.groups.empty()) return Status();
    // Those with the most files first: that is what readers gain by.
    std::stable_sort(plan.groups.begin(), plan.groups.end(),
                     [](const auto& a, const auto& b) { return a.files.size() > b.files.size(); });
    if (static_cast<int64_t>(plan.groups.size()) > options_.max_groups)
      plan.groups.resize(static_cast<size_t>(options_.max_groups));
    ASSIGN_OR_RETURN(const RewriteColumns columns, RewriteColumns::Of(table));
    if (options_.dry) {
      for (const CompactionGroup& group : plan.groups) CountIn(scan, group);
      return Status();
    }
    const RewriteSource source{files_.file_system(), files_.env(), &table, &head, &scan, &columns,
                               options_.prefix,      options_.pace};
    return RewriteAll(source, plan.groups);
  }

  Status RewriteAll(const RewriteSource& source, const std::vector<CompactionGroup>& groups) {
    const auto count = static_cast<int64_t>(groups.size());
    const int64_t commits = std::max<int64_t>(1, options_.max_commits);
    const auto at_once = static_cast<size_t>((count + commits - 1) / commits);
    RewritePool pool(source, groups, options_.threads);
    std::vector<FileReplacement> done;
    for (int64_t taken = 0; taken < count; ++taken) {
      Result<RewritePool::Ended> made = pool.Take();
      // What is done is worth keeping.
      const bool last = !made.ok() || taken + 1 == count;
      if (made.ok() && made->unreadable.empty()) {
        done.push_back(std::move(made->made));
      } else if (made.ok()) {
        report_.unreadable.emplace(made->unreadable, made->why);
      }
      if (!done.empty() && (last || done.size() >= at_once)) {
        Status status = Commit(*source.table, *source.scan, done);
        done.clear();
        if (made.ok()) RETURN_IF_ERROR(status);
      }
      if (!made.ok()) return made.status();
      if (options_.progress) options_.progress(report_, count);
    }
    return Status();
  }

  Status Commit(const iceberg::TableMetadata& table, const iceberg::ScanPlan& scan,
                const std::vector<FileReplacement>& done) {
    ASSIGN_OR_RETURN(
        const iceberg::ReplaceOutcome outcome,
        iceberg::ReplaceFiles(catalog_, files_, name_, table.table_uuid, done, known_, options_.commit));
    if (outcome.snapshot_id != 0) report_.snapshots.push_back(outcome.snapshot_id);
    report_.moved_deletes += outcome.moved_deletes;
    report_.deletes_gone += outcome.outdated.files;
    std::map<std::string_view, int64_t> sizes;
    for (const iceberg::ScanFile& file : scan.files)
      sizes.emplace(file.data.file.file_path, file.data.file.file_size_in_bytes);
    for (size_t i = 0; i < done.size(); ++i) {
      if (!outcome.committed[i]) {
        ++report_.lost;
        continue;
      }
      ++report_.groups;
      for (const iceberg::RewrittenFile& file : done[i].from) {
        ++report_.files_in;
        report_.bytes_in += sizes.at(file.path);
        report_.rows_in += file.records;
      }
      for (const iceberg::DataFile& file : done[i].to) {
        ++report_.files_out;
        report_.bytes_out += file.file_size_in_bytes;
        report_.rows_out += file.record_count;
      }
    }
    return Status();
  }

  void CountIn(const iceberg::ScanPlan& scan, const CompactionGroup& group) {
    ++report_.groups;
    for (const size_t number : group.files) {
      ++report_.files_in;
      report_.bytes_in += scan.files[number].data.file.file_size_in_bytes;
      report_.rows_in += scan.files[number].data.file.record_count;
    }
  }

  iceberg::Catalog* catalog_;
  const iceberg::TableFiles& files_;
  const iceberg::TableName& name_;
  iceberg::HeadFiles* known_;
  const CompactTableOptions& options_;
  CompactionReport& report_;
};

}  // namespace

Status CompactTable(iceberg::Catalog* catalog, const iceberg::TableFiles& files,
                    const iceberg::TableName& name, iceberg::HeadFiles* known,
                    const CompactTableOptions& options, CompactionReport* report) {
  return Compaction(catalog, files, name, known, options, report).Run();
}

}  // namespace caudal
