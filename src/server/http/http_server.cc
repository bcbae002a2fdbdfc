#include "server/http/http_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <thread>

namespace caudal {

class HttpServer::Impl {
 public:
  httplib::Server server;
  std::thread thread;
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {
  // Two threads are enough for a scraper and a person; the default is eight, each with its own stack.
  impl_->server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  impl_->server.set_keep_alive_max_count(1);
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
  port_ = port == 0 ? impl_->server.bind_to_any_port(host.c_str())
                    : (impl_->server.bind_to_port(host.c_str(), port) ? port : -1);
  if (port_ < 0) {
    return Status::User(fmt::format("cannot listen on {}:{}", host, port))
        .Hint("choose another port with --listen");
  }
  impl_->thread = std::thread([this] { impl_->server.listen_after_bind(); });
  while (!impl_->server.is_running()) std::this_thread::yield();
  return Status();
}

}  // namespace caudal
