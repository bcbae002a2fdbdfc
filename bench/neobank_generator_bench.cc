// How fast the demo's events and their expectation are made, on one core.
//   neobank_generator_bench [EVENTS [EVENT_TIME_RATE]]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "demo/neobank_files.h"
#include "demo/neobank_report.h"

namespace caudal {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Measure(const char* what, const NeobankOptions& options, NeobankExpectation* expectation) {
  const auto start = std::chrono::steady_clock::now();
  NeobankFiles files(options, expectation);
  uint64_t events = 0;
  uint64_t bytes = 0;
  for (NeobankFile file; files.Next(&file);) {
    events += file.events;
    bytes += file.bytes.size();
  }
  const double seconds = SecondsSince(start);
  std::printf("%-24s %10.0f events/s  %6.1f ns/event  %5.0f MB/s  %.1f bytes/event\n", what,
              static_cast<double>(events) / seconds, seconds * 1e9 / static_cast<double>(events),
              static_cast<double>(bytes) / seconds / 1e6,
              static_cast<double>(bytes) / static_cast<double>(events));
}

int Run(int argc, char** argv) {
  NeobankOptions options;
  options.events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  options.events_per_second_of_event_time = argc > 2 ? std::atof(argv[2]) : 926;
  const Status status = options.Validate();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  Measure("bytes", options, nullptr);
  NeobankExpectation expectation(options);
  Measure("bytes and fates", options, &expectation);
  const auto start = std::chrono::steady_clock::now();
  const std::string json = NeobankExpectationJson(&expectation);
  std::printf("%-24s %.2f s\n%s", "tables", SecondsSince(start), json.c_str());
  return 0;
}

}  // namespace
}  // namespace caudal

int main(int argc, char** argv) { return caudal::Run(argc, argv); }
