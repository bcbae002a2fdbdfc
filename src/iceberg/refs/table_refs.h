// Branches and tags of a table: made, dropped, and a branch moved forward to another, each in one commit that
// asserts the refs it looked at.
//
// One thread; blocks. An answer that is lost is settled by what the catalog shows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

struct RefOptions {
  std::function<void(int64_t millis)> wait;  // between attempts; nothing: no pause
};

struct NewRef {
  std::string name;
  std::string type;  // "branch", "tag"
  // Where it begins: at a snapshot, at another ref, or, of a branch, at a snapshot of its own without rows.
  std::optional<int64_t> snapshot_id;
  std::string from = "main";
  bool empty = false;
  // How long expiry keeps it and, of a branch, its snapshots; nothing: as the table says.
  std::optional<int64_t> min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms;
};

// The snapshot that it is at. User error if the name is taken, also by a ref of the other type, or there is
// no such snapshot. A branch of a table without any snapshot begins with one without rows.
Result<int64_t> CreateRef(Catalog* catalog, const TableFiles& files, const TableName& name,
                          const NewRef& made, const RefOptions& options);

// Its snapshots go with the next expiry, unless another ref leads to them. User error if there is none of
// this type, and for 'main'.
Status DropRef(Catalog* catalog, const TableName& name, const std::string& type, const std::string& ref,
               const RefOptions& options);

struct FastForwarded {
  int64_t from = 0;  // 0: the branch had no snapshot
  int64_t to = 0;
  int64_t snapshots = 0;  // how many it moved by; 0: it was there already
};
// `branch` is moved to the head of the ref `to`, of whose history it is a part. User error if it is not:
// since then somebody has committed to it. What comes to `to` while this goes on is not moved to: User error.
Result<FastForwarded> FastForward(Catalog* catalog, const TableName& name, const std::string& branch,
                                  const std::string& to, const RefOptions& options);

}  // namespace caudal::iceberg
