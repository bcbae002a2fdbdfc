// Status and Result<T>: how every fallible call in caudal answers.
//
// A Status says whose fault it is (domain), what is wrong (message), where (frames, innermost first),
// whether trying again can help (retry) and what the user can do (hint). The supervisor decides by domain
// and retry alone; nobody parses text. OK is one null pointer. Values are moved or copied freely and belong
// to whoever holds them; no thread rule.
//
// Frames are pushed at five borders and nowhere else: SQL position, plan node, source split and position,
// sink target, checkpoint epoch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace caudal {

// Whose fault: decides the exit code and what the supervisor does.
enum class Domain {
  kUser,      // the statement, option or pipeline file is wrong: stop, report, exit 1 or 3
  kData,      // a row or file breaks its contract: stop, report, exit 2
  kExternal,  // a disk, broker or database refuses: wait and restart from the last checkpoint
  kInternal,  // caudal is wrong: restart a few times, then stop, exit 5
};

// Whether the same call can succeed later.
enum class Retry {
  kNo,
  kBackoff,  // the caller may repeat this call after a pause
  kRestart,  // only a restart from the last checkpoint can help
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(const Status& other) : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status User(std::string message) { return {Domain::kUser, Retry::kNo, std::move(message)}; }
  static Status Data(std::string message) { return {Domain::kData, Retry::kNo, std::move(message)}; }
  static Status External(std::string message, Retry retry = Retry::kRestart) {
    return {Domain::kExternal, retry, std::move(message)};
  }
  static Status Internal(std::string message) {
    return {Domain::kInternal, Retry::kRestart, std::move(message)};
  }

  bool ok() const { return rep_ == nullptr; }
  // REQUIRES: !ok() for the five accessors below.
  Domain domain() const { return rep_->domain; }
  Retry retry() const { return rep_->retry; }
  const std::string& message() const { return rep_->message; }
  const std::string& hint() const { return rep_->hint; }
  const std::vector<std::string>& frames() const { return rep_->frames; }

  // Adds one frame ("kafka clicks[2]@10442") around the frames already there; no effect on OK.
  Status At(std::string frame) &&;
  // Says what the user can do; the first hint, set nearest to the fault, stays.
  Status Hint(std::string hint) &&;

  // The message as users see it, several lines, without a final newline:
  //   error[data]: column 'ts': '12:61' is not a TIMESTAMP(3)
  //     at kafka clicks[2]@10442, format json
  //     hint: set 'caudal.errors' = 'dead-letter' to keep such rows aside
  std::string ToString() const;

 private:
  struct Rep {
    Domain domain;
    Retry retry;
    std::string message;
    std::string hint;
    std::vector<std::string> frames;
  };
  Status(Domain domain, Retry retry, std::string message)
      : rep_(new Rep{domain, retry, std::move(message), {}, {}}) {}

  std::unique_ptr<Rep> rep_;
};

// "user", "data", "external" or "internal".
std::string_view DomainName(Domain domain);

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // REQUIRES: !status.ok()

  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(state_); }  // REQUIRES: ok(), as for the next four
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  Status status() const& { return ok() ? Status() : std::get<1>(state_); }
  Status status() && { return ok() ? Status() : std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace caudal

#define CAUDAL_CONCAT_INNER(a, b) a##b
#define CAUDAL_CONCAT(a, b) CAUDAL_CONCAT_INNER(a, b)

// Returns the Status of `expr` from the enclosing function unless it is OK.
#define RETURN_IF_ERROR(expr)                      \
  do {                                             \
    ::caudal::Status caudal_status = (expr);       \
    if (!caudal_status.ok()) return caudal_status; \
  } while (false)

// ASSIGN_OR_RETURN(auto value, ResultReturningCall()).
#define ASSIGN_OR_RETURN(lhs, expr) \
  CAUDAL_ASSIGN_OR_RETURN(CAUDAL_CONCAT(caudal_result_, __LINE__), lhs, expr)
#define CAUDAL_ASSIGN_OR_RETURN(result, lhs, expr)     \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = std::move(result).value()
