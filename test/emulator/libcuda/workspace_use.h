// Use of workspaces by the other emulated libraries.
#pragma once

#include "test/emulator/libcuda/extension.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>

namespace trainc::emulator {

/// Marks a workspace between a call's first kernel and its last one, and detects if other work, such as a
/// call on another stream, overwrites it.
class WorkspaceUse {
public:
  WorkspaceUse(uint64_t address, uint64_t bytes) : address_(address), bytes_(bytes) {}

  std::optional<std::string> begin() {
    std::byte *bytes = emulatorBytes(address_, bytes_);
    if (!bytes)
      return fmt::format("{} bytes of workspace at {:#x} are not in one allocation", bytes_, address_);
    static std::atomic<uint64_t> uses = 0;
    number_ = ++uses;
    for (uint64_t offset = 0; offset + sizeof number_ <= bytes_; offset += sizeof number_)
      std::memcpy(bytes + offset, &number_, sizeof number_);
    emulatorNoteWritten(address_, bytes_);
    return std::nullopt;
  }
  std::optional<std::string> end() const {
    const std::byte *bytes = emulatorBytes(address_, bytes_);
    for (uint64_t offset = 0; bytes && offset + sizeof number_ <= bytes_; offset += sizeof number_)
      if (std::memcmp(bytes + offset, &number_, sizeof number_) != 0)
        return fmt::format("byte {} of its workspace was written by others while it ran", offset);
    return bytes ? std::nullopt : std::optional<std::string>("its workspace was freed while it ran");
  }

private:
  uint64_t address_, bytes_, number_ = 0;
};

} // namespace trainc::emulator
