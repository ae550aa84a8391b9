#include "lib/Analysis/Machine.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

using namespace mlir;

namespace trainc {

double Cost::seconds() const { return launchSeconds + std::max({workSeconds, byteSeconds, chainSeconds}); }

StringRef Cost::boundBy() const {
  const double larger = std::max({workSeconds, byteSeconds, chainSeconds});
  return launchSeconds >= larger  ? "launch"
         : byteSeconds >= larger  ? "bytes"
         : chainSeconds >= larger ? "chain"
                                  : "work";
}

/// bf16 or f16, whose products tensor cores and matrix units make.
static bool isShort(Type element) { return element && (element.isBF16() || element.isF16()); }

/// GPUs that multiply fp8 numbers do so at twice the rate of bf16 numbers.
static double productRate(const plan::Work &work, const Machine &machine) {
  if (work.isTf32)
    return machine.tf32FlopsPerSecond;
  if (isa_and_nonnull<Float8E4M3FNType, Float8E5M2Type>(work.element))
    return 2 * machine.bf16FlopsPerSecond;
  if (!isShort(work.element))
    return machine.flopsPerSecond;
  return machine.bf16FlopsPerSecond * (work.isAligned ? 1 : machine.unalignedShare);
}

double workRate(const plan::Work &work, const Machine &machine) {
  using enum plan::Worker;
  switch (work.worker) {
  case Arithmetic:
    return machine.flopsPerSecond;
  case Products:
    return productRate(work, machine) * (work.sumsBeside ? machine.sideSumShare : 1);
  case Attention:
    return isShort(work.element) ? machine.attentionFlopsPerSecond : machine.flopsPerSecond;
  case LibraryAttention:
    return isShort(work.element) ? machine.libraryAttentionFlopsPerSecond : machine.flopsPerSecond;
  case LibraryAttentionGrad:
    return isShort(work.element) ? machine.libraryAttentionGradFlopsPerSecond : machine.flopsPerSecond;
  }
  llvm_unreachable("unknown worker");
}

Cost costOf(const plan::Work &work, const Machine &machine) {
  const double bytesPerSecond = std::min(machine.bytesPerSecond, work.threads * machine.threadBytesPerSecond);
  return {.flops = work.flops,
          .bytes = work.bytes,
          .workSeconds = work.flops / workRate(work, machine) + work.epilogueFlops / machine.flopsPerSecond,
          .byteSeconds = work.bytes / bytesPerSecond,
          .chainSeconds = work.chain * machine.accessSeconds,
          .launchSeconds = machine.launchSeconds};
}

double launchBytes(const Machine &machine) { return machine.launchSeconds * machine.bytesPerSecond; }

} // namespace trainc
