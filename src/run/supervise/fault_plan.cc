#include "run/supervise/fault_plan.h"

#include <fmt/format.h>

#include <charconv>

#include "base/fault_point.h"

namespace caudal {
namespace {

struct Fault {
  FaultPoint point = FaultPoint::kCount;
  FaultAction action = FaultAction::kCrash;
  int64_t after = 1;
  int64_t times = 1;
};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool ParseCount(const std::string& text, int64_t* count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *count);
  return error == std::errc() && end == text.data() + text.size() && *count > 0;
}

bool ParseFault(const std::string& text, Fault* fault) {
  const std::vector<std::string> parts = Split(text, ':');
  fault->point = Faults::Find(parts[0]);
  if (fault->point == FaultPoint::kCount || parts.size() > 4) return false;
  if (parts.size() > 1 && parts[1] != "crash" && parts[1] != "error") return false;
  if (parts.size() > 1 && parts[1] == "error") fault->action = FaultAction::kError;
  if (parts.size() > 2 && !ParseCount(parts[2], &fault->after)) return false;
  return parts.size() < 4 || ParseCount(parts[3], &fault->times);
}

bool IsNone(std::string_view fault) { return fault.empty() || fault == "-"; }

}  // namespace

Result<FaultPlan> FaultPlan::Parse(std::string_view text) {
  FaultPlan plan;
  if (text.empty()) return plan;
  plan.faults_ = Split(text, ';');
  for (const std::string& fault : plan.faults_) {
    Fault parsed;
    if (IsNone(fault) || ParseFault(fault, &parsed)) continue;
    return Status::User(fmt::format("CAUDAL_FAULT: '{}' is no fault", fault))
        .Hint("write <fault point>:crash|error[:pass[:times]], starts separated by ';'");
  }
  return plan;
}

void FaultPlan::Arm(int start) const {
  Fault fault;
  const std::string text(Describe(start));
  if (!IsNone(text) && ParseFault(text, &fault))
    Faults::Arm(fault.point, fault.action, fault.after, fault.times);
}

std::string_view FaultPlan::Describe(int start) const {
  return static_cast<size_t>(start) < faults_.size() ? std::string_view(faults_[static_cast<size_t>(start)])
                                                     : "-";
}

}  // namespace caudal
