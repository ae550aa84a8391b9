// Damaged plans: the input is a list of edits of a good plan, each 5 bytes: a 32-bit position (modulo the
// size) and the new value. How many bytes are left over after the last edit says which plan: one of all
// entries and tables, one for two ranks on GPUs whose sums kernels make, one with copies to the host and to
// disk, one with a loop on three ranks, or one of library calls. The payload's checksum is recomputed, that
// of the machine code is not, so changed code is rejected.
//
// What the verifier accepts must be sound byte by byte. Then it runs. One edit: on the CPU, if the plan is
// for one. Several edits may break a kernel's contract with its parameters on both sides at once, so what is
// accepted then runs dry. Plans for several ranks are bound, but not run: there are no peers.
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/null/null_device.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/runtime/run_plan.h"

#include <array>
#include <cstdlib>

using namespace trainc;

namespace {

void checkSound(const fb::Plan &plan) {
  constexpr uint64_t maximum = 4096; // steps
  fb::PlanT tables;
  plan.UnPackTo(&tables);
  if (test::soundnessSteps(tables) <= maximum && !test::isSound(tables))
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::array plans = {test::fullPlan().payload(), test::rankSumsPlan(2, 2).payload(),
                                   test::spacesPlan().payload(), test::loopsPlan(3).payload(),
                                   test::libraryPlan().payload()};
  test::PlanBytes bytes(plans[size % 5]);
  const size_t edits = size / 5;
  for (size_t i = 0; i < edits; ++i) {
    const uint8_t *edit = data + 5 * i;
    const size_t position = edit[0] | edit[1] << 8 | edit[2] << 16 | size_t{edit[3]} << 24;
    bytes.payload()[position % bytes.payload().size()] = std::byte{edit[4]};
  }
  bytes.seal();
  const auto plan = bytes.read();
  if (!plan.ok())
    return 0;
  checkSound(**plan);
  CpuDevice cpu(1);
  NullDevice null;
  const bool isForCpus = (*plan)->target()->string_view() == "cpu";
  test::runAllEntries(**plan, edits <= 1 && isForCpus ? static_cast<Device &>(cpu) : null);
  return 0;
}
