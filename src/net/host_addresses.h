// HostAddresses: what a host's name stands for, by a deadline.
//
// The system's resolver knows no deadline: where name servers are away it takes as long as its own settings
// say. So it is asked on a thread of its own, which is left to end by itself when the deadline has passed.
// A free function, any thread; it blocks no longer than the deadline.
#pragma once

#include <netdb.h>

#include <memory>

#include "base/status.h"
#include "net/byte_stream.h"

namespace caudal {

struct HostAddressesDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using HostAddresses = std::unique_ptr<addrinfo, HostAddressesDeleter>;

// getaddrinfo, or what stands for it in a test.
using Resolver = int (*)(const char* host, const char* port, const addrinfo* hints, addrinfo** found);

// The addresses for streams, at least one. External error: there is none, or no answer in time.
Result<HostAddresses> FindHostAddresses(const std::string& host, int port, ByteStream::Deadline deadline,
                                        Resolver resolver = &getaddrinfo);

}  // namespace caudal
