// The tables and files below test/fixtures/iceberg, for tests alone.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace caudal::iceberg {

inline const std::filesystem::path kFixtures =
    std::filesystem::path(__FILE__).parent_path() / "../../../test/fixtures/iceberg";

inline std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace caudal::iceberg
