// Damaged plans: the input is a list of edits of a good plan, each 4 bytes: a 24-bit position (modulo the
// size) and the new value. The payload's checksum is recomputed, that of the machine code is not, so changed
// code is refused. One edit: what the verifier accepts runs on the CPU. Several edits may break a kernel's
// contract with its parameters on both sides at once, so what is accepted then runs dry. Bytes left over
// after the last edit mean the plan for two ranks, which is bound, but not run: there are no peers.
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/null/null_device.h"
#include "test/unit/runtime/plan_builder.h"
#include "test/unit/runtime/run_plan.h"

using namespace trainc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<uint8_t> one = test::fullPlan().payload(), two = test::ranksPlan(2, 2).payload();
  test::PlanBytes bytes(size % 4 == 0 ? one : two);
  const size_t edits = size / 4;
  for (size_t i = 0; i < edits; ++i) {
    const uint8_t *edit = data + 4 * i;
    const size_t position = edit[0] | edit[1] << 8 | edit[2] << 16;
    bytes.payload()[position % bytes.payload().size()] = std::byte{edit[3]};
  }
  bytes.seal();
  const auto plan = bytes.read();
  if (!plan.ok())
    return 0;
  CpuDevice cpu(1);
  NullDevice null;
  test::runAllEntries(**plan, edits <= 1 ? static_cast<Device &>(cpu) : null);
  return 0;
}
