#include "test/emulator/ptx/global_memory.h"

#include <fmt/format.h>

namespace trainc::emulator {

namespace {

constexpr size_t kMostSparePages = 1024; // 64 MiB

} // namespace

std::vector<std::unique_ptr<GlobalMemory::StampPage>> &GlobalMemory::sparePages() {
  thread_local std::vector<std::unique_ptr<StampPage>> pages;
  return pages;
}

GlobalMemory::~GlobalMemory() {
  auto &spare = sparePages();
  for (auto &[number, page] : pages_)
    if (spare.size() < kMostSparePages)
      spare.push_back(std::move(page));
}

Place GlobalMemory::find(uint64_t address, uint64_t bytes) {
  for (size_t attempt = 0; attempt < 2; ++attempt) {
    for (const Known &known : known_)
      if (known.allocation && known.allocation->contains(address, bytes)) {
        const uint64_t offset = address - known.allocation->address;
        return {known.allocation->bytes.get() + offset, known.allocation->written.get() + offset,
                known.isReadOnly};
      }
    if (Known found = lookUp(address); found.allocation && found.allocation->contains(address, bytes))
      known_[nextKnown_++ % kCachedAllocations] = std::move(found);
    else
      break;
  }
  return {};
}

GlobalMemory::Known GlobalMemory::lookUp(uint64_t address) const {
  if (address >= kModuleWindow)
    for (const PtxProgram::ModuleVariable &variable : program_.variables)
      if (variable.memory->contains(address, 1))
        return {variable.memory, variable.isReadOnly};
  return {memory_.find(address), false};
}

Stamps GlobalMemory::stamps(uint64_t address) {
  const uint64_t number = address / kPageBytes, offset = address % kPageBytes;
  auto &[recentNumber, recent] = recentPages_[number % kCachedPages];
  if (recentNumber != number || !recent) {
    std::unique_ptr<StampPage> &page = pages_[number];
    if (!page) {
      auto &spare = sparePages();
      if (spare.empty()) {
        page = std::make_unique<StampPage>();
      } else {
        page = std::move(spare.back());
        spare.pop_back();
      }
    }
    recentNumber = number;
    recent = page.get();
  }
  return {recent->writers.data() + offset, recent->readers.data() + offset};
}

std::string GlobalMemory::describe(uint64_t address) const {
  if (address < kModuleWindow)
    return memory_.describe(address);
  for (const PtxProgram::ModuleVariable &variable : program_.variables) {
    const DeviceAllocation &memory = *variable.memory;
    if (memory.contains(address, 1))
      return fmt::format("byte {} of variable '{}' of {} bytes", address - memory.address, variable.name,
                         memory.size);
    if (address >= memory.address && address - memory.address < memory.size + 512)
      return fmt::format("{} bytes past the end of variable '{}' of {} bytes",
                         address - memory.address - memory.size, variable.name, memory.size);
  }
  return "near no variable of the module";
}

} // namespace trainc::emulator
