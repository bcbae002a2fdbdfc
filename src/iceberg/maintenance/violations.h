// Violations: what a check of a table found to be wrong, in the order in which it was found.
//
// Owned by one check; one thread. A check asks `enough` before it goes on: one that wants the first
// violation alone ends there.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace caudal::iceberg {

struct Violation {
  std::string place;  // "snapshot 7, manifest '/t/metadata/a.avro'"
  std::string what;
  bool operator==(const Violation&) const = default;
};

class Violations {
 public:
  explicit Violations(bool all) : all_(all) {}

  void Add(std::string place, std::string what) {
    if (!enough()) found_.push_back({std::move(place), std::move(what)});
  }
  bool enough() const { return !all_ && !found_.empty(); }
  std::vector<Violation> Take() { return std::move(found_); }

 private:
  bool all_;
  std::vector<Violation> found_;
};

}  // namespace caudal::iceberg
