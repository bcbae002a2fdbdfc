#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace caudal {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reversed

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

uint32_t Portable(const char* data, size_t size, uint32_t crc) {
  for (size_t i = 0; i < size; ++i) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(data[i])) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Hardware(const char* data, size_t size, uint32_t crc) {
  uint64_t wide = crc;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; size > 0; ++data, --size) crc = __builtin_ia32_crc32qi(crc, static_cast<uint8_t>(*data));
  return crc;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~Hardware(bytes.data(), bytes.size(), ~crc);
#endif
  return ~Portable(bytes.data(), bytes.size(), ~crc);
}

}  // namespace caudal
