#include "run/supervise/child_report.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/secret.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

Status MakeStatus(const Json& json) {
  const std::string domain = json.value("domain", "internal");
  const std::string message = json.value("message", "");
  const auto retry = static_cast<Retry>(json.value("retry", static_cast<int>(Retry::kRestart)));
  Status status = domain == "user"       ? Status::User(message)
                  : domain == "data"     ? Status::Data(message)
                  : domain == "external" ? Status::External(message, retry)
                                         : Status::Internal(message);
  for (const Json& frame : json.value("frames", Json::array())) status = std::move(status).At(frame);
  const std::string hint = json.value("hint", "");
  return hint.empty() ? status : std::move(status).Hint(hint);
}

}  // namespace

void ChildReport::Write(const std::string& line) {
  const std::string text = line + "\n";
  // Without a supervisor there is nobody to tell.
  if (write(file_, text.data(), text.size()) < 0) return;
}

void ChildReport::Progress() { Write(R"({"progress": true})"); }

void ChildReport::Ended(const Status& status, bool before_start) {
  Json json = {{"ended", true}, {"before_start", before_start}};
  if (!status.ok()) {
    // Only this process knows the secrets that it has put in, and as JSON some look different.
    std::vector<std::string> frames;
    for (const std::string& frame : status.frames()) frames.push_back(Secrets::RedactMessage(frame));
    json["error"] = {{"domain", DomainName(status.domain())},
                     {"retry", static_cast<int>(status.retry())},
                     {"message", Secrets::RedactMessage(status.message())},
                     {"frames", std::move(frames)},
                     {"hint", Secrets::RedactMessage(status.hint())}};
  }
  Write(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

ChildReport::Summary ChildReport::Read(const std::string& lines) {
  Summary summary;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    if (json.contains("progress")) summary.progressed = true;
    if (!json.contains("ended")) continue;
    summary.ended = true;
    summary.before_start = json.value("before_start", false);
    if (json.contains("error")) summary.status = MakeStatus(json["error"]);
  }
  return summary;
}

}  // namespace caudal
