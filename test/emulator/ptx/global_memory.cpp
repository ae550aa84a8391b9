#include "test/emulator/ptx/global_memory.h"

#include <bit>
#include <fmt/format.h>

namespace trainc::emulator {

namespace {

constexpr size_t kMaxSparePages = 4096; // per granule size

} // namespace

GlobalMemory::SparePages &GlobalMemory::sparePages() {
  thread_local SparePages pages;
  return pages;
}

GlobalMemory::~GlobalMemory() {
  for (auto &[number, page] : pages_) {
    auto &spare = sparePages()[page->granuleShift()];
    if (spare.size() < kMaxSparePages)
      spare.push_back(std::move(page));
  }
}

Place GlobalMemory::find(uint64_t address, uint64_t bytes) {
  const auto isIn = [&](size_t index) {
    return known_[index].allocation && known_[index].allocation->contains(address, bytes);
  };
  if (!isIn(lastFound_)) {
    lastFound_ = 0;
    while (lastFound_ < kCachedAllocations && !isIn(lastFound_))
      ++lastFound_;
    if (lastFound_ == kCachedAllocations) {
      lastFound_ = nextKnown_++ % kCachedAllocations;
      known_[lastFound_] = lookUp(address);
      if (!isIn(lastFound_))
        return {};
    }
  }
  const Known &known = known_[lastFound_];
  const uint64_t offset = address - known.allocation->address;
  return {known.allocation->bytes.get() + offset, known.allocation->written.get() + offset, known.isReadOnly};
}

GlobalMemory::Known GlobalMemory::lookUp(uint64_t address) const {
  if (address >= kModuleWindow)
    for (const PtxProgram::ModuleVariable &variable : program_.variables)
      if (variable.memory->contains(address, 1))
        return {variable.memory, variable.isReadOnly};
  return {memory_.find(address), false};
}

Stamps GlobalMemory::stamps(uint64_t address, unsigned bytes) {
  const uint64_t number = address / StampPage::kBytes;
  auto &[recentNumber, recent] = recentPages_[number % kCachedPages];
  if (recentNumber != number || !recent) {
    std::unique_ptr<StampPage> &page = pages_[number];
    if (!page) {
      const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
      auto &spare = sparePages()[shift];
      if (spare.empty()) {
        page = std::make_unique<StampPage>(shift);
      } else {
        page = std::move(spare.back());
        spare.pop_back();
      }
    }
    recentNumber = number;
    recent = page.get();
  }
  return recent->at(address % StampPage::kBytes, bytes);
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
