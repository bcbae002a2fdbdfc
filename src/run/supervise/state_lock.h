// StateLock: one running instance a state folder, and who that is.
//
// <state>/lock is locked (flock) as long as the holder, or a child that it forked, lives; <state>/run.json
// says its process ids, so that `caudal stop` finds it. Owned by the process that runs.
#pragma once

#include <string>

#include "base/status.h"

namespace caudal {

class StateLock {
 public:
  // Makes the folder. User error when another instance holds it, External when it cannot be written.
  static Result<StateLock> Take(const std::string& state_root);
  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&&) = delete;
  ~StateLock();

  Status Describe(const std::string& json) const;  // replaces run.json

  // Whether somebody holds it now.
  static Result<bool> IsHeld(const std::string& state_root);
  // run.json as it stands; User error if there is none.
  static Result<std::string> ReadDescription(const std::string& state_root);

 private:
  StateLock(int file, std::string state_root) : file_(file), state_root_(std::move(state_root)) {}

  int file_;
  std::string state_root_;
};

}  // namespace caudal
