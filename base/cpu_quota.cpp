#include "base/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace trainc {

namespace {

namespace fs = std::filesystem;

/// The whitespace-separated words at the beginning of `file`; empty if the file does not exist.
std::vector<std::string> wordsOf(const fs::path &file) {
  std::ifstream stream(file);
  std::vector<std::string> words;
  for (std::string word; words.size() < 2 && stream >> word;)
    words.push_back(word);
  return words;
}

std::optional<double> number(const std::string &text) {
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == 0 && value > 0 ? std::optional(value)
                                                       : std::nullopt; // "max", -1: no limit
}

std::optional<double> ratio(const std::vector<std::string> &quota, const std::vector<std::string> &period) {
  if (quota.empty() || period.empty())
    return std::nullopt;
  const std::optional<double> time = number(quota.front()), periodTime = number(period.back());
  return time && periodTime ? std::optional(*time / *periodTime) : std::nullopt;
}

/// The quota of one group.
std::optional<double> quotaIn(const fs::path &group) {
  if (const std::vector<std::string> words = wordsOf(group / "cpu.max"); words.size() == 2)
    return ratio({words[0]}, {words[1]});
  return ratio(wordsOf(group / "cpu.cfs_quota_us"), wordsOf(group / "cpu.cfs_period_us"));
}

/// Lowers `quota` to the minimum of the quotas of `group` (relative to `mount`) and its ancestors.
void lowerToQuotas(const fs::path &mount, fs::path group, std::optional<double> &quota) {
  for (group = group.relative_path();; group = group.parent_path()) {
    if (const std::optional<double> own = quotaIn(mount / group))
      quota = std::min(quota.value_or(*own), *own);
    if (group.empty())
      return;
  }
}

} // namespace

std::optional<double> cpuQuota(const fs::path &root) {
  std::optional<double> quota;
  std::ifstream groups(root /
                       "proc/self/cgroup"); // lines such as "4:cpu,cpuacct:/a/b"; in version 2 "0::/a/b"
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty())
      lowerToQuotas(root / "sys/fs/cgroup", path, quota);
    else if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      for (const std::string &mount : {controllers, std::string("cpu")})
        lowerToQuotas(root / "sys/fs/cgroup" / mount, path, quota);
  }
  return quota;
}

} // namespace trainc
