// MoveBranch: a branch set to the head of another, whether that began at it or not, in one commit that
// asserts both heads; the history that it left stays as a branch of its own.
//
// One thread; blocks. May be said again: a branch that is there already is left alone.
#pragma once

#include "iceberg/refs/table_refs.h"

namespace caudal::iceberg {

struct BranchMove {
  std::string branch;
  int64_t from = 0;  // the snapshot that it is at; 0: there is no such branch yet
  std::string to;    // a branch or tag
  int64_t to_snapshot = 0;
  // The branch that what is left stays as, and until when (wall clock, ms) expiry must keep it; empty: it is
  // not kept. One of this name is replaced.
  std::string kept_as;
  int64_t kept_until_ms = 0;
  bool drop_to = false;  // `to` goes in the same commit
};

// User error if the branch is at neither of the two, or `to` is elsewhere. Of a branch that has been
// committed to since it was moved it is known by its history, or by what was left. `*never`, if given:
// whether an error says for certain that no attempt, of this call or of one before it, has moved it, nor
// will.
Status MoveBranch(Catalog* catalog, const TableName& name, const BranchMove& move, const RefOptions& options,
                  bool* never = nullptr);

}  // namespace caudal::iceberg
