#include "server/cli/console/last_words.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace caudal {
namespace {

const Console* spoken_by = nullptr;
std::terminate_handler otherwise = nullptr;

// Allocates nothing.
[[noreturn]] void End(const char* message, const char* hint) {
  const int code = static_cast<int>(ExitCode::kInternal);
  if (spoken_by->json) {
    std::fprintf(
        stderr,
        "{\"error\":{\"at\":[],\"domain\":\"external\",\"hint\":\"%s\",\"message\":\"%s\"},\"exit\":%d}\n",
        hint, message, code);
  } else {
    std::fprintf(stderr, "error[external]: %s\n  hint: %s\n", message, hint);
  }
  std::_Exit(code);
}

void OnTerminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    End("the system gives this process no more memory",
        "raise its limit (ulimit -v, the container's), or lower 'caudal.memory-limit'");
  } catch (const std::system_error& refused) {
    if (refused.code() == std::errc::resource_unavailable_try_again) {
      End("the system gives this process no further thread",
          "raise its limits (ulimit -u, ulimit -v, the container's), or lower --threads");
    }
  } catch (...) {
  }
  otherwise();  // which ends the process
}

}  // namespace

void SayLastWords(const Console* console) {
  spoken_by = console;
  otherwise = std::set_terminate(OnTerminate);
}

}  // namespace caudal
