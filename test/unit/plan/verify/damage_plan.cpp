// Changes single bytes of a compiled plan (not of kernel code), recomputes the checksum, and runs plans that
// the verifier accepts on the CPU; arenas are surrounded by guard pages, and the asan preset checks the rest.
//
//   damage_plan PLAN CHANGES     prints the outcomes; each byte is printed to stderr before it is tried
#include "base/mapped_file.h"
#include "runtime/device/cpu/cpu_device.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/run_plan.h"

#include <cstdlib>
#include <cstring>
#include <random>

using namespace trainc;

namespace {

/// Offsets in the payload that are not machine code.
std::vector<size_t> positionsOutsideCode(std::span<const std::byte> payload, const fb::Plan &plan) {
  std::vector<bool> isCode(payload.size());
  for (const fb::Object *object : *plan.objects()) {
    const auto *image = reinterpret_cast<const std::byte *>(object->image()->data());
    const auto begin = image - payload.data();
    std::fill_n(isCode.begin() + begin, object->image()->size(), true);
  }
  std::vector<size_t> positions;
  for (size_t i = 0; i < payload.size(); ++i)
    if (!isCode[i])
      positions.push_back(i);
  return positions;
}

/// Whether the damaged plan was accepted, and so was run.
bool tryChange(test::PlanBytes &bytes, size_t position, std::byte change) {
  bytes.payload()[position] ^= change;
  bytes.seal();
  const auto plan = bytes.read();
  if (plan.ok()) {
    fmt::print(stderr, "byte {} ^ {:#04x}\n", sizeof(PlanFileHeader) + position,
               std::to_integer<int>(change));
    CpuDevice device(1);
    test::runAllEntries(**plan, device);
  }
  bytes.payload()[position] ^= change;
  return plan.ok();
}

} // namespace

int main(int argc, char **argv) {
  const auto file =
      argc == 3 ? MappedFile::open(argv[1]) : Result<MappedFile>(failed("usage: damage_plan PLAN CHANGES"));
  if (!file.ok()) {
    fmt::print(stderr, "damage_plan: {}\n", file.status().message());
    return 2;
  }
  const auto *payload = reinterpret_cast<const uint8_t *>(file->bytes().data()) + sizeof(PlanFileHeader);
  test::PlanBytes bytes({payload, payload + file->bytes().size() - sizeof(PlanFileHeader)});
  const auto plan = bytes.read();
  if (!plan.ok()) {
    fmt::print(stderr, "damage_plan: {}\n", plan.status().message());
    return 2;
  }
  const std::vector<size_t> positions = positionsOutsideCode(bytes.payload(), **plan);
  std::mt19937_64 random(1);
  const uint64_t changes = std::strtoull(argv[2], nullptr, 10);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < changes; ++i)
    accepted += tryChange(bytes, positions[random() % positions.size()], std::byte(1 + random() % 255));
  fmt::print("{} changes: {} refused, {} run\n", changes, changes - accepted, accepted);
  return 0;
}
