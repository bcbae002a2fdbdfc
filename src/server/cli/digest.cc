#include "server/cli/digest.h"

#include <fmt/format.h>

#include <vector>

#include "demo/row_digest.h"

namespace caudal {

int PrintDigest(bool skip_header, Console& console) {
  RowDigest digest;
  std::vector<char> bytes(1 << 20);
  std::string rest;  // of a line that goes on in the next piece
  const auto take = [&](std::string_view line) {
    if (!skip_header) digest.Add(line);
    skip_header = false;
  };
  for (size_t count; (count = std::fread(bytes.data(), 1, bytes.size(), stdin)) > 0;) {
    std::string_view piece(bytes.data(), count);
    for (size_t end; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1)) {
      if (rest.empty()) {
        take(piece.substr(0, end));
      } else {
        take(rest.append(piece.substr(0, end)));
        rest.clear();
      }
    }
    rest.append(piece);
  }
  if (!rest.empty()) take(rest);
  console.Out(console.json ? fmt::format("{{\"digest\": \"{}\"}}\n", digest.ToString())
                           : digest.ToString() + "\n");
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
