#include "base/clock.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>

namespace trainc {

double threadSeconds() {
  timespec worked{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
  return static_cast<double>(worked.tv_sec) + static_cast<double>(worked.tv_nsec) * 1e-9;
}

double secondsSinceProcessStart() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // Field 22 of proc(5); the name in field 2 may hold blanks, so count from the parenthesis that ends it.
  const size_t nameEnd = text.rfind(')');
  std::istringstream fields(nameEnd == text.npos ? "" : text.substr(nameEnd + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i)
    fields >> field;
  timespec now{};
  if (!fields || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0)
    return 0;
  const double started = std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(0.0, static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - started);
}

} // namespace trainc
