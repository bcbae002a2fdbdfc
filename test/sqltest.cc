// caudal_sqltest: plays .test files in the five modes and reports what differs.
//
//   caudal_sqltest [--mode MODE] [--seed N] FILE|FOLDER …
//
// Prints each failure, then for each mode what ran, what had nothing to run, and what was skipped and why.
// Exit 0 when all expectations are met and the skips keep to the rule (at most 5 % of the files of a mode,
// none about late rows or restore).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "drill/player.h"

namespace caudal::drill {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int played = 0;
  int failed = 0;
  int nothing_to_play = 0;
  std::vector<std::string> skipped;
};

std::vector<std::string> FindFiles(const std::vector<std::string>& roots) {
  std::vector<std::string> files;
  for (const std::string& root : roots) {
    if (fs::is_directory(root)) {
      for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.path().extension() == ".test") files.push_back(entry.path().string());
      }
    } else {
      files.push_back(root);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Whether a file is about what no mode may leave out.
bool IsAboutLateRowsOrRestore(const std::string& path) {
  return path.find("/late/") != std::string::npos || path.find("/restore/") != std::string::npos;
}

void PlayFile(const std::string& path, Mode mode, uint64_t seed, Tally* tally) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  const Result<TestFile> file = ParseTestFile(path, text.str());
  if (file.ok()) {
    if (const TestSkip* skip = file->skip(mode); skip != nullptr) {
      tally->skipped.push_back(fmt::format("{}: {}", path, skip->reason));
      return;
    }
    if (!Player::HasAnythingToPlay(*file, mode)) {
      ++tally->nothing_to_play;
      return;
    }
  }
  ++tally->played;
  const Status status = file.ok() ? Player(*file, mode, seed).Play() : file.status();
  if (status.ok()) return;
  ++tally->failed;
  fmt::print("FAILED {} ({})\n{}\n\n", path, ModeName(mode), status.ToString());
  std::fflush(stdout);
}

// Prints the mode's line; false when it failed or skipped too much.
bool Report(Mode mode, const Tally& tally) {
  const size_t files = tally.skipped.size() + static_cast<size_t>(tally.played);
  fmt::print("{}: {} of {} files passed, {} skipped; {} more have nothing to play in this mode\n",
             ModeName(mode), tally.played - tally.failed, files, tally.skipped.size(), tally.nothing_to_play);
  bool ok = tally.failed == 0;
  for (const std::string& skip : tally.skipped) {
    fmt::print("  skipped {}\n", skip);
    if (IsAboutLateRowsOrRestore(skip)) {
      fmt::print("  FAILED: a file about late rows or restore may not be skipped\n");
      ok = false;
    }
  }
  if (files >= 20 && tally.skipped.size() * 20 > files) {
    fmt::print("  FAILED: more than 5 % of the files are skipped\n");
    ok = false;
  }
  return ok;
}

int Main(int argc, char** argv) {
  std::vector<std::string> roots;
  std::vector<Mode> modes(std::begin(kModes), std::end(kModes));
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--mode" && i + 1 < argc) {
      const std::string name = argv[++i];
      std::erase_if(modes, [&](Mode mode) { return ModeName(mode) != name; });
    } else if (arg == "--seed" && i + 1 < argc) {
      seed = std::stoull(argv[++i]);
    } else {
      roots.push_back(arg);
    }
  }
  if (roots.empty() || modes.empty()) {
    fmt::print(
        stderr,
        "usage: caudal_sqltest [--mode written|bounded|restore|rescale|tiny] [--seed N] FILE|FOLDER…\n");
    return 1;
  }
  bool ok = true;
  const std::vector<std::string> files = FindFiles(roots);
  for (Mode mode : modes) {
    Tally tally;
    for (const std::string& file : files) PlayFile(file, mode, seed, &tally);
    ok = Report(mode, tally) && ok;
  }
  return ok && !files.empty() ? 0 : 2;
}

}  // namespace
}  // namespace caudal::drill

int main(int argc, char** argv) { return caudal::drill::Main(argc, argv); }
