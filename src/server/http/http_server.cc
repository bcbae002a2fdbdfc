#include "server/http/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <thread>

namespace caudal {

namespace {

// Why the system does not let us have the address; empty: it is one, as far as its name tells.
std::string Unknown(const std::string& host) {
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (error != 0) return gai_strerror(error);
  freeaddrinfo(found);
  return "";
}

std::string WhyNot(int error) {
  switch (error) {
    case EADDRINUSE:
      return "address in use";
    case EADDRNOTAVAIL:
      return "it is no address of this machine";
    case EACCES:
      return "this user may not listen there";
    default:
      return std::generic_category().message(error);
  }
}

Status CannotListen(const std::string& host, int port, std::string_view why, std::string hint) {
  return Status::User(fmt::format("cannot listen on {}:{}: {}", host, port, why)).Hint(std::move(hint));
}

}  // namespace

class HttpServer::Impl {
 public:
  httplib::Server server;
  std::thread thread;
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {
  // Two threads are enough for a scraper and a person; the default is eight, each with its own stack.
  impl_->server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  impl_->server.set_keep_alive_max_count(1);
  // The library's own choice would let two runs share a port, and probes would meet either. This one only
  // takes a port whose last connections are still closing.
  impl_->server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  impl_->server.set_read_timeout(5);
}

HttpServer::~HttpServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void HttpServer::AddPage(const std::string& path, std::function<HttpPage()> page) {
  impl_->server.Get(path, [page = std::move(page)](const httplib::Request&, httplib::Response& response) {
    HttpPage shown = page();
    response.status = shown.code;
    response.set_content(std::move(shown.body), shown.type.c_str());
  });
}

Status HttpServer::Start(const std::string& host, int port) {
  constexpr std::string_view kOtherHost =
      "name an address of this machine with --listen: 127.0.0.1:<port>, or 0.0.0.0:<port> for all";
  if (const std::string why = Unknown(host); !why.empty())
    return CannotListen(host, port, why, std::string(kOtherHost));
  errno = 0;
  port_ = port == 0 ? impl_->server.bind_to_any_port(host.c_str())
                    : (impl_->server.bind_to_port(host.c_str(), port) ? port : -1);
  if (port_ < 0) {
    const int error = errno;
    return CannotListen(
        host, port, WhyNot(error),
        error == EADDRNOTAVAIL ? std::string(kOtherHost) : "choose another port with --listen");
  }
  impl_->thread = std::thread([this] { impl_->server.listen_after_bind(); });
  while (!impl_->server.is_running()) std::this_thread::yield();
  return Status();
}

}  // namespace caudal
