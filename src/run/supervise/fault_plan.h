// FaultPlan: which fault each start of the engine gets, from the environment variable CAUDAL_FAULT.
//
//   CAUDAL_FAULT='sink_commit_before:crash:3'            at the third pass, in the first start
//   CAUDAL_FAULT='manifest_after:crash:5;-;disk_write:error:2:10'   first start, none in the second, ten
//                                                        errors from the second pass on in the third
// For tests and drills. Plain data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

class FaultPlan {
 public:
  // User error that names what is no fault.
  static Result<FaultPlan> Parse(std::string_view text);

  // Arms what the start with this number (0 = the first) gets, if anything.
  void Arm(int start) const;
  // Its text, "-" for none.
  std::string_view Describe(int start) const;

 private:
  std::vector<std::string> faults_;
};

}  // namespace caudal
