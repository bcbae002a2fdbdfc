// Buffer: counted, immutable bytes. MutableBuffer: the same bytes while one thread still fills them.
//
// A Buffer is shared by handle (BufferPtr) and freed with its last handle, on whichever thread that is.
// Every buffer has kPadding readable bytes past its size, since simdjson and vector code read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "data/fwd.h"

namespace caudal {

class Buffer {
 public:
  static constexpr size_t kPadding = 64;
  static constexpr size_t kAlignment = 64;

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_, size_}; }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

  // For the thread that made the buffer, before it hands it out.
  char* mutable_data() { return data_; }
  template <typename T>
  T* mutable_as() {
    return reinterpret_cast<T*>(data_);
  }
  void set_size(size_t size) { size_ = size; }  // REQUIRES: size <= capacity()

  // A buffer of `size` uninitialised bytes.
  static std::shared_ptr<Buffer> Allocate(size_t size) {
    const size_t capacity = (size + kPadding + kAlignment - 1) / kAlignment * kAlignment;
    void* data = std::aligned_alloc(kAlignment, capacity);
    if (data == nullptr) std::abort();  // the memory budget refuses long before the allocator does
    return std::shared_ptr<Buffer>(new Buffer(static_cast<char*>(data), size, capacity - kPadding));
  }

 private:
  Buffer(char* data, size_t size, size_t capacity) : data_(data), size_(size), capacity_(capacity) {}

  char* data_;
  size_t size_;
  size_t capacity_;
};

using MutableBufferPtr = std::shared_ptr<Buffer>;

}  // namespace caudal
