// SnapshotList: the snapshots of a table, which copies of its metadata share: a table may have thousands, and
// a commit adds one.
//
// A value, as a vector of snapshots would be; they are changed one at a time. A snapshot that several lists
// have may be read by any thread.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/metadata/json_fields.h"
#include "iceberg/metadata/snapshot_fwd.h"

namespace caudal::iceberg {

struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;
  int64_t timestamp_ms = 0;
  std::string manifest_list;                   // empty in format 1 if `manifests` are listed here
  std::vector<std::string> manifests;          // format 1
  std::map<std::string, std::string> summary;  // with "operation"
  std::optional<int32_t> schema_id;
  std::optional<int64_t> first_row_id;  // v3
  std::optional<int64_t> added_rows;    // v3
  UnknownFields unknown;
  bool operator==(const Snapshot&) const = default;
};

// A snapshot, and its JSON once that was asked for.
struct HeldSnapshot {
  explicit HeldSnapshot(Snapshot value) : snapshot(std::move(value)) {}
  Snapshot snapshot;
  std::once_flag written;
  std::string text;
};

class SnapshotList {
 private:
  using Holders = std::vector<HeldSnapshotPtr>;

 public:
  using value_type = Snapshot;
  class const_iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Snapshot;
    using difference_type = std::ptrdiff_t;
    using pointer = const Snapshot*;
    using reference = const Snapshot&;
    const_iterator() = default;
    explicit const_iterator(Holders::const_iterator at) : at_(at) {}
    reference operator*() const { return (*at_)->snapshot; }
    pointer operator->() const { return &(*at_)->snapshot; }
    const_iterator& operator++() { return ++at_, *this; }
    const_iterator& operator--() { return --at_, *this; }
    const_iterator operator++(int) { return const_iterator(at_++); }
    const_iterator operator--(int) { return const_iterator(at_--); }
    bool operator==(const const_iterator&) const = default;

   private:
    Holders::const_iterator at_;
  };
  using iterator = const_iterator;

  SnapshotList() = default;
  SnapshotList(std::initializer_list<Snapshot> snapshots) {
    for (const Snapshot& one : snapshots) push_back(one);
  }

  const_iterator begin() const { return const_iterator(held_.begin()); }
  const_iterator end() const { return const_iterator(held_.end()); }
  size_t size() const { return held_.size(); }
  bool empty() const { return held_.empty(); }
  const Snapshot& operator[](size_t i) const { return held_[i]->snapshot; }
  const Snapshot& front() const { return held_.front()->snapshot; }
  const Snapshot& back() const { return held_.back()->snapshot; }
  void push_back(Snapshot snapshot) { held_.push_back(std::make_shared<HeldSnapshot>(std::move(snapshot))); }
  template <typename Goes>
  void EraseIf(Goes goes) {
    std::erase_if(held_, [&](const HeldSnapshotPtr& one) { return goes(one->snapshot); });
  }
  // To be changed, in this list alone; as long as it is not copied.
  Snapshot& Change(size_t i) {
    held_[i] = std::make_shared<HeldSnapshot>(held_[i]->snapshot);
    return held_[i]->snapshot;
  }

  // The snapshot's JSON, written once for all the lists that share it.
  const std::string& Text(size_t i) const;

  bool operator==(const SnapshotList& other) const;

 private:
  Holders held_;
};

}  // namespace caudal::iceberg
