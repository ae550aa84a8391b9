#include "runtime/base/print.h"

#include "runtime/schema/plain_text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace trainc {

bool put(std::FILE *stream, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fflush(stream) == 0 && written;
}

static constexpr std::string_view kOfLines = "\n\t";

bool putMessage(std::FILE *stream, std::string_view text) { return put(stream, printable(text, kOfLines)); }

Status printOutput(std::string_view text) {
  errno = 0;
  if (put(stdout, text))
    return {};
  return failed("cannot write to standard output: {}", std::strerror(errno));
}

Status printText(std::string_view text) { return printOutput(printable(text, kOfLines)); }

void claimStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", O_RDONLY); // gets the lowest free number, which is fd
}

} // namespace trainc
