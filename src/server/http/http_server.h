// HttpServer: GET pages on loopback: /metrics, /livez, /readyz, /status. The only file that knows cpp-httplib
// is its .cc.
//
// Pages are functions that any of its threads may call. Stops when it is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"

namespace caudal {

struct HttpPage {
  int code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  HttpServer();
  ~HttpServer();

  // Before Start.
  void AddPage(const std::string& path, std::function<HttpPage()> page);
  // Port 0 takes any free one. User error when the address cannot be had.
  Status Start(const std::string& host, int port);
  int port() const { return port_; }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace caudal
