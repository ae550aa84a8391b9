#include "base/cpu_features.h"

#include <algorithm>
#include <iterator>
#include <sys/syscall.h>
#include <unistd.h>

namespace trainc {

namespace {

struct Feature {
  std::string_view name; ///< as in /proc/cpuinfo
  bool present;
};

/// __builtin_cpu_supports also checks that the operating system saves the wide registers.
#define TRAINC_FEATURE(name, builtin) {name, __builtin_cpu_supports(builtin) != 0}
std::vector<Feature> features() {
  return {
      TRAINC_FEATURE("sse4_2", "sse4.2"),
      TRAINC_FEATURE("popcnt", "popcnt"),
      TRAINC_FEATURE("avx", "avx"),
      TRAINC_FEATURE("avx2", "avx2"),
      TRAINC_FEATURE("fma", "fma"),
      TRAINC_FEATURE("bmi1", "bmi"),
      TRAINC_FEATURE("bmi2", "bmi2"),
      TRAINC_FEATURE("f16c", "f16c"),
      TRAINC_FEATURE("abm", "lzcnt"),
      TRAINC_FEATURE("movbe", "movbe"),
      TRAINC_FEATURE("avx512f", "avx512f"),
      TRAINC_FEATURE("avx512bw", "avx512bw"),
      TRAINC_FEATURE("avx512cd", "avx512cd"),
      TRAINC_FEATURE("avx512dq", "avx512dq"),
      TRAINC_FEATURE("avx512vl", "avx512vl"),
      TRAINC_FEATURE("avx512_bf16", "avx512bf16"),
      TRAINC_FEATURE("avx512_vnni", "avx512vnni"),
      TRAINC_FEATURE("amx_tile", "amx-tile"),
      TRAINC_FEATURE("amx_bf16", "amx-bf16"),
  };
}
#undef TRAINC_FEATURE

/// Requests the permission to use AMX tiles for all threads of this process.
bool grantTiles() {
  constexpr long kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;              // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

constexpr std::string_view kLevel3[] = {"avx", "avx2", "fma", "bmi1", "bmi2", "f16c", "abm", "movbe"};
constexpr std::string_view kLevel4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

} // namespace

std::vector<std::string> missingFeatures(std::string_view level, const std::vector<std::string_view> &extra) {
  std::vector<std::string_view> needed(std::begin(kLevel3), std::end(kLevel3));
  if (level.starts_with("x86-64-v4"))
    needed.insert(needed.end(), std::begin(kLevel4), std::end(kLevel4));
  needed.insert(needed.end(), extra.begin(), extra.end());
  const std::vector<Feature> known = features();
  std::vector<std::string> missing;
  for (const std::string_view name : needed) {
    const auto found = std::ranges::find(known, name, &Feature::name);
    const bool present = found != known.end() && found->present && (name != "amx_tile" || grantTiles());
    if (!present && std::ranges::find(missing, name) == missing.end())
      missing.emplace_back(name);
  }
  return missing;
}

int speedRank(std::string_view level) {
  if (level == "x86-64-v4-bf16" && __builtin_cpu_is("intel"))
    return speedRank("x86-64-v4") - 1;
  return 2 * static_cast<int>(std::ranges::find(kCpuLevels, level) - kCpuLevels.begin());
}

std::string_view levelOfThisCpu() {
  for (const std::string_view level : {"x86-64-v4", "x86-64-v3"})
    if (missingFeatures(level, {}).empty())
      return level;
  return {};
}

} // namespace trainc
