#include "base/mapped_words.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace caudal {

Result<MappedWords> MappedWords::Make(size_t count) {
  MappedWords made;
  if (count == 0) return made;
  const size_t bytes = count * sizeof(uint64_t);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return Status::External(std::string("no memory is left: ") + std::strerror(errno), Retry::kBackoff);
  made.words_ = static_cast<uint64_t*>(pages);
  made.count_ = count;
  return made;
}

MappedWords::~MappedWords() {
  if (words_ != nullptr) munmap(words_, count_ * sizeof(uint64_t));
}

}  // namespace caudal
