// Runs one fuzz target without libFuzzer: `NAME_fuzz_replay CORPUS_FOLDER MILLISECONDS`.
//
// Every file of the corpus goes through the target once; then files are changed at random from a fixed seed
// until the time is over. It has no coverage feedback and needs no clang: `make test` uses it so that a known
// input can never break again, `make fuzz` finds new ones. An input that crashes the target is written to
// ./crash-input.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr size_t kLargest = 64 * 1024;
const std::string* current = nullptr;

void SaveCurrent() {
  if (current == nullptr) return;
  if (FILE* file = std::fopen("crash-input", "wb")) {
    std::fwrite(current->data(), 1, current->size(), file);
    std::fclose(file);
    constexpr char kNote[] = "fuzz: the input is in ./crash-input\n";
    [[maybe_unused]] auto written = write(STDERR_FILENO, kNote, sizeof(kNote) - 1);
  }
}

void OnSignal(int signal) {
  SaveCurrent();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(const std::string& input) {
  current = &input;
  // A copy of the exact size on the heap, so that AddressSanitizer sees a read past the end.
  std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  current = nullptr;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string Next() {
    std::string input = Any();
    for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
    if (input.size() > kLargest) input.resize(kLargest);
    return input;
  }

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const std::string& Any() { return corpus_[Below(corpus_.size())]; }

  void Change(std::string& input) {
    static constexpr char kTelling[] = "\0\n\"'\\{}[](),;:.-+eE0919uU\x7f\x80\xc3\xed\xf4\xff";
    const size_t at = Below(input.size() + 1);
    const size_t length = Below(std::min<size_t>(input.size() - at, 32) + 1);
    switch (Below(6)) {
      case 0:
        input.insert(at, 1, kTelling[Below(sizeof(kTelling) - 1)]);
        break;
      case 1:
        input.erase(at, length);
        break;
      case 2:
        input.insert(at, input.substr(at, length));
        break;
      case 3:
        if (at < input.size()) input[at] = static_cast<char>(Below(256));
        break;
      case 4: {
        const std::string& other = Any();
        const size_t from = Below(other.size() + 1);
        input.replace(at, length, other, from, Below(64));
        break;
      }
      default:
        input.resize(at);
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_{20261129};
};

std::vector<std::string> ReadCorpus(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER MILLISECONDS\n", argv[0]);
    return 1;
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, OnSignal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SaveCurrent);
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: no file in '%s'\n", argv[1]);
    return 1;
  }
  for (const std::string& input : corpus) Run(input);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atol(argv[2]));
  Mutator mutator(corpus);
  size_t changed = 0;
  for (; std::chrono::steady_clock::now() < until; ++changed) Run(mutator.Next());
  std::printf("fuzz: %zu corpus files, %zu changed inputs, no crash\n", corpus.size(), changed);
  return 0;
}
