#include "plan/cost/machine.h"

#include <algorithm>

namespace trainc {

Machine dividedAmong(Machine machine, double ranks) {
  for (double Machine::*rate :
       {&Machine::peakFlopsPerSecond, &Machine::flopsPerSecond, &Machine::arithmeticPerSecond,
        &Machine::tf32FlopsPerSecond, &Machine::bf16FlopsPerSecond, &Machine::fp8FlopsPerSecond,
        &Machine::f16FlopsPerSecond, &Machine::f32AttentionFlopsPerSecond, &Machine::attentionFlopsPerSecond,
        &Machine::libraryAttentionFlopsPerSecond, &Machine::libraryAttentionGradFlopsPerSecond,
        &Machine::bytesPerSecond, &Machine::hostBytesPerSecond, &Machine::hostComputeBytesPerSecond,
        &Machine::hostArithmeticPerSecond, &Machine::diskReadBytesPerSecond,
        &Machine::diskWriteBytesPerSecond})
    machine.*rate /= ranks;
  machine.memoryBytes = static_cast<uint64_t>(static_cast<double>(machine.memoryBytes) / ranks);
  return machine;
}

double Cost::seconds() const { return launchSeconds + std::max({workSeconds, byteSeconds, chainSeconds}); }

std::string_view Cost::boundBy() const {
  const double larger = std::max({workSeconds, byteSeconds, chainSeconds});
  return launchSeconds >= larger  ? "launch"
         : byteSeconds >= larger  ? "bytes"
         : chainSeconds >= larger ? "chain"
                                  : "work";
}

static double productRate(const Work &work, const Machine &machine) {
  switch (work.factor) {
  case Factor::Full:
    break;
  case Factor::Tf32:
    return machine.tf32FlopsPerSecond;
  case Factor::Bf16:
  case Factor::F16: {
    const bool isApart = work.factor == Factor::F16 && machine.f16FlopsPerSecond > 0;
    return (isApart ? machine.f16FlopsPerSecond : machine.bf16FlopsPerSecond) *
           (work.isAligned ? 1 : machine.unalignedShare);
  }
  case Factor::Byte:
    return machine.fp8FlopsPerSecond;
  }
  return machine.flopsPerSecond;
}

double workRate(const Work &work, const Machine &machine) {
  const auto ofHalf = [&](double rate) {
    if (work.factor == Factor::Bf16 || work.factor == Factor::F16)
      return rate;
    return machine.f32AttentionFlopsPerSecond > 0 ? machine.f32AttentionFlopsPerSecond
                                                  : machine.flopsPerSecond;
  };
  switch (work.worker) {
  case Worker::HostCores:
    return machine.hostArithmeticPerSecond;
  case Worker::Arithmetic:
  case Worker::HostLink:
  case Worker::DiskRead:
  case Worker::DiskWrite:
    break;
  case Worker::Products:
    return productRate(work, machine) * (work.sumsBeside ? machine.sideSumShare : 1);
  case Worker::Attention:
    return ofHalf(machine.attentionFlopsPerSecond);
  case Worker::LibraryAttention:
    return ofHalf(machine.libraryAttentionFlopsPerSecond);
  case Worker::LibraryAttentionGrad:
    return ofHalf(machine.libraryAttentionGradFlopsPerSecond);
  }
  return machine.flopsPerSecond;
}

static double byteRate(const Work &work, const Machine &machine) {
  switch (work.worker) {
  case Worker::HostCores:
    return machine.hostComputeBytesPerSecond;
  case Worker::HostLink:
    return machine.hostBytesPerSecond;
  case Worker::DiskRead:
    return machine.diskReadBytesPerSecond;
  case Worker::DiskWrite:
    return machine.diskWriteBytesPerSecond;
  default:
    return std::min(machine.bytesPerSecond, work.threads * machine.threadBytesPerSecond);
  }
}

static double arithmeticRate(const Work &work, const Machine &machine) {
  if (work.worker == Worker::HostCores)
    return machine.hostArithmeticPerSecond;
  return machine.arithmeticPerSecond > 0 ? machine.arithmeticPerSecond : machine.flopsPerSecond;
}

static double launchSeconds(Worker worker, const Machine &machine) {
  switch (worker) {
  case Worker::HostCores:
    return machine.hostLaunchSeconds;
  case Worker::DiskRead:
  case Worker::DiskWrite:
    return machine.diskAccessSeconds;
  default:
    return machine.launchSeconds;
  }
}

/// Caches of host cores hide the latency.
static double accessSeconds(Worker worker, const Machine &machine) {
  return worker == Worker::HostCores ? 0 : machine.accessSeconds;
}

Cost costOf(const Work &work, const Machine &machine) {
  const double byteSeconds = work.bytes / byteRate(work, machine);
  const bool packs = work.worker == Worker::Products && machine.packsFactors;
  return {.flops = work.flops,
          .bytes = work.bytes,
          .workSeconds = work.flops / workRate(work, machine) +
                         work.arithmetic / arithmeticRate(work, machine) + (packs ? byteSeconds : 0),
          .byteSeconds = byteSeconds,
          .chainSeconds = work.chain * accessSeconds(work.worker, machine),
          .launchSeconds = launchSeconds(work.worker, machine)};
}

double launchBytes(const Machine &machine) { return machine.launchSeconds * machine.bytesPerSecond; }

} // namespace trainc
