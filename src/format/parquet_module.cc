#include "format/parquet_module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <mutex>

namespace caudal {
namespace {

constexpr const char* kFile = "libcaudal_parquet.so";

// Beside the program, where an installed program keeps it, and where the build put it.
std::vector<std::string> Places() {
  std::vector<std::string> places;
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size > 0) {
    const std::string path(program, static_cast<size_t>(size));
    const std::string folder = path.substr(0, path.find_last_of('/'));
    places.push_back(fmt::format("{}/{}", folder, kFile));
    places.push_back(fmt::format("{}/../lib/caudal/{}", folder, kFile));
  }
#ifdef CAUDAL_MODULE_DIR
  places.push_back(fmt::format("{}/{}", CAUDAL_MODULE_DIR, kFile));
#endif
  return places;
}

Result<const ParquetModule*> LoadFrom(const std::vector<std::string>& places) {
  std::string problems;
  for (const std::string& place : places) {
    if (access(place.c_str(), R_OK) != 0) {
      problems += fmt::format("\n  no file '{}'", place);
      continue;
    }
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = library == nullptr ? nullptr : dlsym(library, kParquetModuleEntry);
    if (entry != nullptr) return reinterpret_cast<ParquetModuleEntry>(entry)();
    problems += fmt::format("\n  {}", dlerror());
  }
  return Status::External(fmt::format("cannot load {}, which reads and writes Parquet:{}", kFile, problems),
                          Retry::kNo)
      .Hint("keep it beside the program, or in ../lib/caudal");
}

}  // namespace

Result<const ParquetModule*> ParquetModule::Load() {
  // Once loaded it stays; a failure is tried again.
  static std::mutex mutex;
  static const ParquetModule* loaded = nullptr;
  std::lock_guard lock(mutex);
  if (loaded == nullptr) {
    ASSIGN_OR_RETURN(loaded, LoadFrom(Places()));
  }
  return loaded;
}

Result<std::unique_ptr<ParquetWriter>> ParquetWriter::Make(const Schema& schema,
                                                           const ParquetOptions& options,
                                                           WritableFile* file) {
  ASSIGN_OR_RETURN(const ParquetModule* module, ParquetModule::Load());
  return module->make_writer(schema, options, file);
}

Result<std::unique_ptr<ParquetReader>> ParquetReader::Open(RandomAccessFile* file, const std::string& path) {
  ASSIGN_OR_RETURN(const ParquetModule* module, ParquetModule::Load());
  return module->open_reader(file, path);
}

}  // namespace caudal
