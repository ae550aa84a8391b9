// Prints a part of docs/reference; scripts/generate_docs.sh runs it.
//   reference_pages PART
//   reference_pages ops PAGE EXAMPLES     the table of the ops that a page of the dialect nn describes
#include "base/exit_codes.h"
#include "base/print.h"
#include "tools/reference/tables.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <span>

namespace trainc {

namespace {

struct Part {
  std::string_view name;
  std::string (*print)();
};

constexpr Part kParts[] = {{"settings", settingsPage},
                           {"trainc-options", traincOptionsPage},
                           {"trainrun-options", trainrunOptionsPage},
                           {"exit-codes", exitCodesTable},
                           {"metrics-of-steps", stepMetricsTable},
                           {"metrics-of-evaluations", evalMetricsTable}};

/// Content of a file; empty if it cannot be read.
std::string contentOf(const char *path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The part that the arguments name; empty if there is none.
std::string partOf(std::span<char *const> arguments) {
  if (arguments.size() == 3 && std::string_view(arguments[0]) == "ops")
    return opsTable(contentOf(arguments[1]), contentOf(arguments[2]));
  if (arguments.size() == 1)
    for (const Part &part : kParts)
      if (part.name == arguments[0])
        return part.print();
  return "";
}

} // namespace

} // namespace trainc

int main(int argc, char **argv) {
  using namespace trainc;
  const std::string part = partOf(std::span(argv + 1, argc > 0 ? argc - 1 : 0));
  if (part.empty()) {
    putMessage(stderr, "error: expected the name of a part, or ops and two pages\n");
    return kExitUsage;
  }
  return printOutput(part).exitCode();
}
