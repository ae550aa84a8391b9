// Names of status codes, and versions, of emulated libraries.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace trainc::emulator {

/// A code and its name in the vendor's header.
template <typename Status> struct NamedStatus {
  Status status;
  const char *name;
};
#define TRAINC_NAMED_STATUS(name) {name, #name}

template <typename Status> std::string_view nameIn(std::span<const NamedStatus<Status>> all, Status status) {
  for (const NamedStatus<Status> &each : all)
    if (each.status == status)
      return each.name;
  return "an unknown status";
}

template <typename Status>
std::optional<int> statusIn(std::span<const NamedStatus<Status>> all, std::string_view name) {
  for (const NamedStatus<Status> &each : all)
    if (each.name == name)
      return each.status;
  return std::nullopt;
}

/// Version in the environment's `variable`, else that of the header. An invalid number ends the process with
/// a message.
size_t versionIn(const char *variable, size_t ofHeader);

} // namespace trainc::emulator
