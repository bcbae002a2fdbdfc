// RedisCommand: a command as the server reads it, put together argument by argument.
//
// Plain data; one thread. Arguments are bytes; nothing is quoted or interpreted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace caudal {

struct RedisCommand {
  std::string arguments;  // each "$<length>\r\n<bytes>\r\n"
  int64_t count = 0;

  RedisCommand& Add(std::string_view argument) {
    arguments.append("$").append(std::to_string(argument.size())).append("\r\n");
    arguments.append(argument).append("\r\n");
    ++count;
    return *this;
  }
  RedisCommand& Add(int64_t number) { return Add(std::string_view(std::to_string(number))); }
  RedisCommand& Add(const RedisCommand& more) {
    arguments += more.arguments;
    count += more.count;
    return *this;
  }
  // The argument at that place. REQUIRES: 0 <= index < count.
  std::string_view at(int64_t index) const {
    std::string_view rest = arguments;
    for (;; --index) {
      const size_t head = rest.find("\r\n");
      const size_t size = std::stoul(std::string(rest.substr(1, head - 1)));
      if (index == 0) return rest.substr(head + 2, size);
      rest.remove_prefix(head + 2 + size + 2);
    }
  }
};

}  // namespace caudal
