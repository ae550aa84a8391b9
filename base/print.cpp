#include "base/print.h"

#include "base/plain_text.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <fcntl.h>

namespace trainc {

bool put(std::FILE *stream, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fflush(stream) == 0 && written;
}

static constexpr std::string_view kOfLines = "\n\t";

std::string shownMessage(std::string_view text) {
  constexpr size_t kMaxWord = PATH_MAX, kBegin = 64, kEnd = 16;
  const std::string escaped = printable(text, kOfLines);
  const auto startsCharacter = [&](size_t at) { return (static_cast<uint8_t>(escaped[at]) & 0xc0) != 0x80; };
  std::string shown;
  for (size_t begin = 0; begin < escaped.size();) {
    const size_t end = std::min(escaped.find_first_of(" \n\t", begin), escaped.size());
    if (end - begin <= kMaxWord) {
      shown.append(escaped, begin, end + 1 - begin);
    } else {
      size_t cut = begin + kBegin, rest = end - kEnd;
      while (!startsCharacter(cut))
        --cut;
      while (!startsCharacter(rest))
        --rest;
      shown += fmt::format("{}...({} bytes)...{}", std::string_view(escaped).substr(begin, cut - begin),
                           rest - cut, std::string_view(escaped).substr(rest, end + 1 - rest));
    }
    begin = end + 1;
  }
  return shown;
}

bool putMessage(std::FILE *stream, std::string_view text) { return put(stream, shownMessage(text)); }

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
