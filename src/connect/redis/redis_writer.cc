#include "connect/redis/redis_writer.h"

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

constexpr const char* kAcknowledged = "acknowledged";

class SealedRows : public SealedEpoch {
 public:
  SealedRows(std::unique_ptr<SealedEpoch> segment, const AcknowledgedEpoch* acknowledged)
      : segment_(std::move(segment)), acknowledged_(acknowledged) {}

  Result<Committable> Prepare() override {
    ASSIGN_OR_RETURN(Committable committable, segment_->Prepare());
    const Epoch epoch = acknowledged_->get();
    nlohmann::json payload = nlohmann::json::parse(committable.payload);
    payload[kAcknowledged] = {epoch.generation, epoch.number};
    committable.payload = payload.dump();
    return committable;
  }

 private:
  std::unique_ptr<SealedEpoch> segment_;
  const AcknowledgedEpoch* acknowledged_;
};

}  // namespace

Result<std::unique_ptr<SealedEpoch>> RedisWriter::Seal(Epoch epoch) {
  ASSIGN_OR_RETURN(std::unique_ptr<SealedEpoch> segment, segments_->Seal(epoch));
  return std::unique_ptr<SealedEpoch>(std::make_unique<SealedRows>(std::move(segment), acknowledged_));
}

Epoch RedisWriter::AcknowledgedIn(std::string_view payload) {
  const nlohmann::json json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || !json.contains(kAcknowledged)) return {};
  const nlohmann::json& epoch = json[kAcknowledged];
  if (!epoch.is_array() || epoch.size() != 2 || !epoch[0].is_number_integer() ||
      !epoch[1].is_number_integer()) {
    return {};
  }
  return {epoch[0].get<int64_t>(), epoch[1].get<int64_t>()};
}

}  // namespace caudal
