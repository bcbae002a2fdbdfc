#include "net/host_addresses.h"

#include <future>
#include <string>
#include <thread>

namespace caudal {
namespace {

struct Answer {
  int error = 0;
  HostAddresses addresses;
};

Answer Ask(Resolver resolver, const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  Answer answer;
  answer.error = resolver(host.c_str(), port.c_str(), &hints, &found);
  if (answer.error == 0) answer.addresses.reset(found);
  return answer;
}

}  // namespace

Result<HostAddresses> FindHostAddresses(const std::string& host, int port, ByteStream::Deadline deadline,
                                        Resolver resolver) {
  const std::string service = std::to_string(port);
  // Numbers need nobody's answer.
  Answer numbers = Ask(&getaddrinfo, host, service, AI_NUMERICHOST);
  if (numbers.error == 0) return std::move(numbers.addresses);
  // What the two share is freed by whoever is the last to need it.
  std::promise<Answer> promise;
  std::future<Answer> future = promise.get_future();
  std::thread([promise = std::move(promise), resolver, host, service]() mutable {
    promise.set_value(Ask(resolver, host, service, 0));
  }).detach();
  if (future.wait_until(deadline) != std::future_status::ready) {
    return Status::External("the name servers did not answer in time", Retry::kBackoff)
        .Hint("look at the machine's resolver (/etc/resolv.conf), or write an address instead of the name");
  }
  Answer answer = future.get();
  if (answer.error != 0) return Status::External(gai_strerror(answer.error), Retry::kBackoff);
  if (answer.addresses == nullptr) return Status::External("the name has no address", Retry::kBackoff);
  return std::move(answer.addresses);
}

}  // namespace caudal
