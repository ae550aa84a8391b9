#include "base/lack_of_memory.h"

#include "base/exit_codes.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

namespace trainc {

void giveUp(std::string_view what, std::string_view reason) {
  static std::atomic_flag begun;
  while (begun.test_and_set())
    ::pause();
  for (const std::string_view part :
       {std::string_view("error: "), what, std::string_view(": "), reason, std::string_view("\n")})
    (void)!::write(STDERR_FILENO, part.data(), part.size());
  std::_Exit(kExitFailed);
}

void giveUpWithoutMemory() {
  std::set_new_handler([] { giveUp(kNoMemory, "out of memory"); });
}

void giveUpWithoutMemoryUnlessCaught() {
  std::set_terminate([] {
    try {
      if (const std::exception_ptr uncaught = std::current_exception())
        std::rethrow_exception(uncaught);
    } catch (const std::bad_alloc &) {
      giveUp(kNoMemory, "out of memory");
    } catch (...) { // another exception: a bug
    }
    std::abort();
  });
}

} // namespace trainc
