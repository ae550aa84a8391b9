// Embedded copies of examples/clusters, so that the compiler can predict without a file.
#include "base/input_file.h"
#include "plan/cost/cluster_file.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/ranges.h>

namespace trainc {

namespace {

struct Text {
  const char *name, *json;
};

constexpr Text kTexts[] = {
#include "plan/cost/clusters.inc"
};

std::vector<Cluster> parseTexts() {
  std::vector<Cluster> clusters;
  for (const Text &text : kTexts) {
    Result<Cluster> cluster = parseCluster(fmt::format("examples/clusters/{}.json", text.name), text.json);
    if (!cluster.ok()) { // a test reads all of them
      std::fprintf(stderr, "error: %s\n", cluster.status().message().c_str());
      std::abort();
    }
    clusters.push_back(std::move(*cluster));
  }
  return clusters;
}

} // namespace

const std::vector<std::string> &builtInClusterNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (const Text &text : kTexts)
      names.emplace_back(text.name);
    return names;
  }();
  return names;
}

const std::vector<Cluster> &builtInClusters() {
  static const std::vector<Cluster> clusters = parseTexts();
  return clusters;
}

const Cluster &builtInCluster(std::string_view name) {
  const auto &names = builtInClusterNames();
  return builtInClusters()[static_cast<size_t>(std::ranges::find(names, name) - names.begin())];
}

const Cluster *clusterOfGpu(std::string_view gpu) {
  const auto found = std::ranges::find(builtInClusters(), gpu, &Cluster::gpu);
  return found == builtInClusters().end() ? nullptr : &*found;
}

Result<Cluster> openCluster(const std::string &name) {
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    const auto &names = builtInClusterNames();
    const auto found = std::ranges::find_if(
        names, [&](const std::string &builtIn) { return name == builtIn || name == builtIn + ".json"; });
    if (found != names.end())
      return builtInCluster(*found);
    return invalidInput("{}: no such file; expected a cluster file, or one of {}, which are built in", name,
                        fmt::join(names, ", "));
  }
  constexpr uint64_t kMaxBytes = 1 << 20;
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(name, kMaxBytes));
  return parseCluster(name, text);
}

} // namespace trainc
