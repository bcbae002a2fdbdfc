#include "base/status.h"

namespace caudal {

std::string_view DomainName(Domain domain) {
  switch (domain) {
    case Domain::kUser:
      return "user";
    case Domain::kData:
      return "data";
    case Domain::kExternal:
      return "external";
    case Domain::kInternal:
      return "internal";
  }
  return "internal";
}

Status Status::At(std::string frame) && {
  if (rep_) rep_->frames.push_back(std::move(frame));
  return std::move(*this);
}

Status Status::Hint(std::string hint) && {
  if (rep_ && rep_->hint.empty()) rep_->hint = std::move(hint);
  return std::move(*this);
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text = "error[";
  text.append(DomainName(rep_->domain)).append("]: ").append(rep_->message);
  // A frame of what encloses the fault says so itself: "in source 'clicks' of query 'q'".
  for (const std::string& frame : rep_->frames) {
    text.append(frame.starts_with("in ") ? "\n  " : "\n  at ").append(frame);
  }
  if (!rep_->hint.empty()) text.append("\n  hint: ").append(rep_->hint);
  return text;
}

}  // namespace caudal
