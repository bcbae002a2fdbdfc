#include "connect/kafka/client/kafka_config.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <string_view>

#include "base/env.h"
#include "connect/kafka/client/kafka_statistics.h"

namespace caudal {
namespace {

constexpr int kSysLogError = 3;
constexpr int64_t kComplaintNanos = 60'000'000'000;
constexpr int kFirstSoundVersion = 0x020d02ff;  // 2.13.2: the last fault in batches is gone
constexpr std::string_view kNotCompressed = "does not support compression type";

// Brokers say little and the library tells what it was doing; its words are all that there is to go by.
struct Refusal {
  std::string_view words;
  std::string_view what;
  std::string_view hint;
};
constexpr std::string_view kLogin = "a Kafka broker refuses the login";
constexpr std::string_view kLoginHint =
    "look at 'properties.sasl.mechanism', 'properties.sasl.username' and 'properties.sasl.password', or at "
    "the token";
constexpr std::string_view kTls = "no secure connection to a Kafka broker";
constexpr std::string_view kProtocol = "a Kafka broker speaks another protocol";
constexpr std::string_view kProtocolHint =
    "'properties.security.protocol' must be that of the listener: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL";
constexpr std::string_view kAuthorityHint =
    "'properties.ssl.ca.location' must be a file with the certificate of the authority that signed the "
    "broker's";
constexpr std::string_view kOwnCertificateHint =
    "the broker may want a certificate, or another one: 'properties.ssl.certificate.location' and "
    "'properties.ssl.key.location'";
constexpr Refusal kRefusals[] = {
    {"SASL authentication", kLogin, kLoginHint},
    {"SaslAuthenticateRequest failed", kLogin, kLoginHint},
    {"mechanism handshake failed", kLogin, kLoginHint},
    {"OAUTHBEARER", kLogin, kLoginHint},
    {"PLAINTEXT broker listener", kProtocol, kProtocolHint},
    {"wrong version number", kProtocol, kProtocolHint},
    {"security.protocol", kProtocol, kProtocolHint},
    // Brokers of TLS 1.3 say what they think of a client's certificate when the client believes to be in.
    {"SSL alert number", kTls, kOwnCertificateHint},
    {"in state APIVERSION_QUERY", "a Kafka broker hangs up at once", kProtocolHint},
    {"verification callback failed", kTls, kAuthorityHint},
    {"broker certificate could not be verified", kTls, kAuthorityHint},
    {"certificate verify failed", kTls, kAuthorityHint},
    {"during SSL connection handshake", kTls, kOwnCertificateHint},
    {"SSL", kTls, kOwnCertificateHint},
};

// OpenSSL's numbers of what is wrong with a certificate.
std::string_view CertificateProblem(int verdict) {
  switch (verdict) {
    case 9:
      return "it is not valid yet";
    case 10:
      return "it has expired";
    case 18:
    case 19:
    case 20:
    case 21:
      return "no authority that is known here has signed it";
    case 62:
    case 64:
      return "it is of another host";
    default:
      return "it is not valid";
  }
}

const Refusal* FindRefusal(std::string_view complaint) {
  for (const Refusal& refusal : kRefusals) {
    if (complaint.find(refusal.words) != std::string_view::npos) return &refusal;
  }
  return nullptr;
}

}  // namespace

std::string KafkaLibrary() {
  return fmt::format("librdkafka {}{}", rd_kafka_version_str(),
                     rd_kafka_version() < kFirstSoundVersion ? ", which has known faults" : "");
}

std::string KafkaVersionWarning() {
  if (rd_kafka_version() >= kFirstSoundVersion) return "";
  return fmt::format(
      "librdkafka {} has known faults: it can skip records in batches and read some twice after a change of "
      "leader, and can give up a producer without need; build with a current one (docs/dependencies.md)",
      rd_kafka_version_str());
}

void KafkaEvents::Log(const rd_kafka_s* client, int level, const char*, const char* text) {
  auto* self = static_cast<KafkaEvents*>(rd_kafka_opaque(client));
  if (self == nullptr) return;
  std::string_view told = text;
  // Said at no level that anybody sees.
  if (told.find(kNotCompressed) != std::string_view::npos) self->compression_refused_ = true;
  // Brokers that hang up on the wrong protocol are worth no more than a notice to the library.
  const bool hung_up = told.find("in state APIVERSION_QUERY") != std::string_view::npos;
  if (level > kSysLogError && !hung_up) return;
  // "[thrd:sasl_ssl://host:9093/bootstrap]: " names a thread of the library.
  const size_t end = told.starts_with("[thrd:") ? told.find("]: ") : std::string_view::npos;
  if (end != std::string_view::npos) told.remove_prefix(end + 3);
  if (told.ends_with("brokers are down")) return;  // comes behind what each of them died of
  std::lock_guard lock(self->mutex_);
  self->complaint_ = told;
  self->complained_nanos_ = Env::Real()->SteadyNanos();
}

int KafkaEvents::OnStatistics(rd_kafka_s*, char* json, size_t size, void* self) {
  auto* events = static_cast<KafkaEvents*>(self);
  const int64_t now = Env::Real()->SteadyNanos();
  const std::map<KafkaPartitionId, int64_t> heard = SinceHeardMicros({json, size});
  std::lock_guard lock(events->mutex_);
  for (const auto& [partition, micros] : heard) events->heard_nanos_[partition] = now - micros * 1000;
  return 0;  // the library frees the text
}

int64_t KafkaEvents::heard_nanos(const KafkaPartitionId& partition) const {
  std::lock_guard lock(mutex_);
  const auto found = heard_nanos_.find(partition);
  return found == heard_nanos_.end() ? 0 : found->second;
}

int KafkaEvents::CheckCertificate(rd_kafka_s*, const char*, int32_t, int* verdict, int, const char*, size_t,
                                  char* text, size_t text_size, void* events) {
  if (*verdict == 0) return 1;
  auto* self = static_cast<KafkaEvents*>(events);
  std::lock_guard lock(self->mutex_);
  self->certificate_ = CertificateProblem(*verdict);
  text[self->certificate_.copy(text, text_size - 1)] = 0;
  return 0;
}

std::string KafkaEvents::last_complaint() const {
  std::lock_guard lock(mutex_);
  return Env::Real()->SteadyNanos() - complained_nanos_ < kComplaintNanos ? complaint_ : "";
}

Status KafkaEvents::NoAnswer(std::string what) const {
  const std::string complaint = last_complaint();
  const Refusal* refusal = FindRefusal(complaint);
  if (refusal != nullptr) {
    std::string certificate;
    if (refusal->what == kTls) {
      std::lock_guard lock(mutex_);
      if (!certificate_.empty()) certificate = fmt::format("its certificate is refused, {}: ", certificate_);
    }
    return Status::External(fmt::format("{}: {}{}", refusal->what, certificate, complaint), Retry::kBackoff)
        .Hint(std::string(refusal->hint));
  }
  Status status = Status::External(std::move(what), Retry::kBackoff);
  return complaint.empty() ? status : std::move(status).At("the client said last: " + complaint);
}

Result<rd_kafka_conf_s*> MakeKafkaConf(const std::map<std::string, std::string>& properties,
                                       KafkaSettings defaults, KafkaSettings always, KafkaEvents* events) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[512] = "";
  for (const auto& [name, value] : defaults) rd_kafka_conf_set(conf, name, value, text, sizeof text);
  for (const auto& [name, value] : properties) {
    const rd_kafka_conf_res_t set = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text);
    if (set == RD_KAFKA_CONF_OK) continue;
    rd_kafka_conf_destroy(conf);
    const bool unknown = set == RD_KAFKA_CONF_UNKNOWN;
    return Status::User(unknown ? fmt::format("the Kafka client has no property '{}'", name)
                                : fmt::format("the Kafka client refuses 'properties.{}': {}", name, text))
        .Hint("its properties are librdkafka's; most have the same names as those of the Java client");
  }
  for (const auto& [name, value] : always) rd_kafka_conf_set(conf, name, value, text, sizeof text);
  rd_kafka_conf_set_opaque(conf, events);
  rd_kafka_conf_set_log_cb(conf, &KafkaEvents::Log);
  // Who switches the check off has none of ours in its place.
  if (!properties.contains("enable.ssl.certificate.verification")) {
    rd_kafka_conf_set_ssl_cert_verify_cb(conf, &KafkaEvents::CheckCertificate);
  }
  rd_kafka_conf_enable_sasl_queue(conf, 1);
  return conf;
}

}  // namespace caudal
