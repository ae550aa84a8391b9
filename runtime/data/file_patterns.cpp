#include "runtime/data/file_patterns.h"

#include "runtime/data/formats/token_file.h"

#include <algorithm>
#include <glob.h>

namespace trainc {

/// Removes the JSON sidecars of other files in `found`, which is sorted.
static void removeSidecars(std::vector<std::string> &found) {
  std::vector<std::string> sidecars;
  for (const std::string &file : found)
    if (const std::string sidecar = sidecarPath(file).string(); std::ranges::binary_search(found, sidecar))
      sidecars.push_back(sidecar);
  std::erase_if(found,
                [&](const std::string &file) { return std::ranges::find(sidecars, file) != sidecars.end(); });
}

Result<std::vector<std::filesystem::path>> expandPatterns(const std::vector<std::string> &patterns) {
  std::vector<std::filesystem::path> files;
  for (const std::string &pattern : patterns) {
    std::error_code error;
    if (std::filesystem::exists(pattern, error)) {
      files.emplace_back(pattern);
      continue;
    }
    glob_t matches{};
    std::vector<std::string> found;
    // Sorted below instead: glob(3) sorts by locale, and the order of files decides the order of samples.
    if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0)
      found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    if (found.empty())
      return invalidInput("{}: no such file, and no file matches it as a pattern", pattern);
    std::ranges::sort(found);
    removeSidecars(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty())
    return invalidInput("no data files given");
  return files;
}

} // namespace trainc
