#include "connect/kafka/kafka_config.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

namespace caudal {
namespace {

constexpr int kSysLogError = 3;

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
constexpr Refusal kRefusals[] = {
    {"SASL authentication", kLogin, kLoginHint},
    {"SaslAuthenticateRequest failed", kLogin, kLoginHint},
    {"mechanism handshake failed", kLogin, kLoginHint},
    {"OAUTHBEARER", kLogin, kLoginHint},
    {"PLAINTEXT broker listener", kProtocol, kProtocolHint},
    {"wrong version number", kProtocol, kProtocolHint},
    {"security.protocol", kProtocol, kProtocolHint},
    {"in state APIVERSION_QUERY", "a Kafka broker hangs up at once", kProtocolHint},
    {"broker certificate could not be verified", kTls,
     "'properties.ssl.ca.location' must be a file with the certificate of the authority that signed the "
     "broker's"},
    {"certificate verify failed", kTls,
     "'properties.ssl.ca.location' must be a file with the certificate of the authority that signed the "
     "broker's"},
    {"during SSL connection handshake", kTls,
     "the broker may want a certificate: 'properties.ssl.certificate.location' and "
     "'properties.ssl.key.location'"},
    {"SSL", kTls,
     "the broker may want another certificate: 'properties.ssl.certificate.location' and "
     "'properties.ssl.key.location'"},
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

void KafkaEvents::Log(const rd_kafka_s* client, int level, const char*, const char* text) {
  auto* self = static_cast<KafkaEvents*>(rd_kafka_opaque(client));
  std::string_view told = text;
  // Brokers that hang up on the wrong protocol are worth no more than a notice to the library.
  const bool hung_up = told.find("in state APIVERSION_QUERY") != std::string_view::npos;
  if (self == nullptr || (level > kSysLogError && !hung_up)) return;
  // "[thrd:sasl_ssl://host:9093/bootstrap]: " names a thread of the library.
  const size_t end = told.starts_with("[thrd:") ? told.find("]: ") : std::string_view::npos;
  if (end != std::string_view::npos) told.remove_prefix(end + 3);
  if (told.ends_with("brokers are down")) return;  // comes behind what each of them died of
  std::lock_guard lock(self->mutex_);
  self->complaint_ = told;
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
  return complaint_;
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
