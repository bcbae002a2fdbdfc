// What an upsert's look-ups cost: the keys of an epoch in the index of a table of many.
//
// CAUDAL_BENCH_KEYS says of how many, in millions; 10 unless it is set.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "fs/file_system.h"
#include "iceberg/index/key_index.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kBatch = 2'000'000;

KeyHash Key(int64_t number) { return HashKey({reinterpret_cast<const char*>(&number), sizeof(number)}, 1); }

std::vector<KeyHash> Sorted(int64_t first, int64_t count, int64_t step) {
  std::vector<KeyHash> keys;
  for (int64_t i = 0; i < count; ++i) keys.push_back(Key(first + i * step));
  std::sort(keys.begin(), keys.end());
  return keys;
}

Status Run() {
  const char* millions = std::getenv("CAUDAL_BENCH_KEYS");
  const int64_t all = (millions == nullptr ? 10 : std::atoll(millions)) * 1'000'000;
  const std::string folder = std::filesystem::temp_directory_path() / "caudal-iceberg-bench";
  ASSIGN_OR_RETURN(const auto index, KeyIndex::Open(FileSystem::Local(), folder, "bench"));
  RETURN_IF_ERROR(index->Clear());
  const int64_t before = ThreadCpuNanoseconds();
  for (int64_t first = 0; first < all; first += kBatch) {
    std::vector<IndexEntry> entries;
    for (int64_t i = first; i < first + kBatch; ++i) entries.push_back({Key(i), 0, static_cast<uint32_t>(i)});
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    RETURN_IF_ERROR(index->Add(entries, {"/data/" + std::to_string(first)}));
    RETURN_IF_ERROR(index->Seal({first + 1, first + 1}));
    while (index->wants_merge()) RETURN_IF_ERROR(index->Merge());
  }
  const auto nanoseconds = static_cast<double>(ThreadCpuNanoseconds() - before);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("index of %lld keys made, merges and hashes too   %.0f ns a key\n", static_cast<long long>(all),
              nanoseconds / static_cast<double>(all));
  std::printf("its memory %lld MB in %lld runs, peak of the process %ld MB\n",
              static_cast<long long>(index->memory() / 1'000'000), static_cast<long long>(index->runs()),
              usage.ru_maxrss / 1024);
  const auto find = [&](const char* name, const std::vector<KeyHash>& keys) {
    Measure(name, static_cast<int64_t>(keys.size()), [&] {
      int64_t found = 0;
      const Status status = index->Find(keys, [&](size_t, const std::string&, uint32_t) { ++found; });
      if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
      KeepResult(found);
    });
  };
  find("find: 1 M new keys", Sorted(all, 1'000'000, 1));
  find("find: 1 M keys, one in ten is there", Sorted(all - 100'000, 1'000'000, 1));
  find("find: a chunk of 4,096 new keys", Sorted(all, 4'096, 1));
  find("find: a chunk of 4,096 keys that are there", Sorted(0, 4'096, all / 4'096));
  std::filesystem::remove_all(folder);
  return Status();
}

}  // namespace
}  // namespace caudal::iceberg

int main() {
  const caudal::Status status = caudal::iceberg::Run();
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
