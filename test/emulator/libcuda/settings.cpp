#include "test/emulator/libcuda/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

namespace trainc::emulator {

namespace {

std::optional<uint64_t> asNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuseVariable(const char *name, std::string_view text, std::string_view expected) {
  fmt::print(stderr, "emulated GPU: {}: expected {}, found '{}'\n", name, expected, text);
  std::_Exit(2);
}

uint64_t numberIn(const char *name, uint64_t otherwise, uint64_t maximum) {
  const char *text = std::getenv(name);
  if (!text)
    return otherwise;
  const std::optional<uint64_t> number = asNumber(text);
  if (!number || *number > maximum)
    refuseVariable(name, text, fmt::format("a number up to {}", maximum));
  return *number;
}

/// Device order: fastest first, the driver's default; the bus order is the reverse.
std::vector<uint32_t> ordered(uint64_t count) {
  std::vector<uint32_t> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  if (const char *order = std::getenv("CUDA_DEVICE_ORDER"); order && std::string_view(order) == "PCI_BUS_ID")
    std::ranges::reverse(devices);
  return devices;
}

/// Like the driver: devices up to the first invalid name; a duplicate hides all devices.
std::vector<uint32_t> visible(const std::vector<uint32_t> &devices) {
  const char *text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!text)
    return devices;
  std::vector<uint32_t> found;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::optional<uint64_t> index = asNumber(rest.substr(0, end));
    if (!index || *index >= devices.size())
      break;
    if (std::ranges::find(found, devices[*index]) != found.end())
      return {};
    found.push_back(devices[*index]);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return found;
}

} // namespace

Settings Settings::fromEnvironment() {
  constexpr const char *kCapability = "TRAINC_EMULATOR_CAPABILITY";
  Settings settings;
  settings.seed = numberIn("TRAINC_EMULATOR_SEED", settings.seed, std::numeric_limits<uint64_t>::max());
  settings.memory = numberIn("TRAINC_EMULATOR_MEMORY", settings.memory, uint64_t{1} << 40);
  settings.driver = static_cast<int>(numberIn("TRAINC_EMULATOR_DRIVER", 13000, 99999));
  if (const char *name = std::getenv("TRAINC_EMULATOR_NAME"))
    settings.name = name;
  settings.devices = visible(ordered(numberIn("TRAINC_EMULATOR_DEVICES", 1, 64)));
  if (const char *text = std::getenv(kCapability)) {
    const std::string_view capability = text;
    const size_t dot = std::min(capability.find('.'), capability.size());
    const auto major = asNumber(capability.substr(0, dot));
    const auto minor = asNumber(capability.substr(std::min(dot + 1, capability.size())));
    if (!major || !minor || *major > 99 || *minor > 9)
      refuseVariable(kCapability, capability, "a compute capability, e.g. 9.0");
    settings.major = static_cast<int>(*major);
    settings.minor = static_cast<int>(*minor);
  }
  return settings;
}

} // namespace trainc::emulator
