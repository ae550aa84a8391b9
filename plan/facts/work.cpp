#include "plan/facts/work.h"

#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/uses.h"
#include "plan/facts/view.h"
#include "plan/schema/enum_words.h"

#include <algorithm>

namespace trainc {

Factor factorOf(fb::DType dtype) {
  if (isF8(dtype))
    return Factor::Byte;
  return dtype == fb::DType::BF16 ? Factor::Bf16 : dtype == fb::DType::F16 ? Factor::F16 : Factor::Full;
}

// --- Kernels ---

namespace {

Worker workerOf(const fb::Kernel &kernel) {
  if (kernel.on_host())
    return Worker::HostCores;
  switch (kernel.kind()) {
  case fb::KernelKind::Gemm: // GPU kernels, with several threads, use no tensor cores
    return kernel.threads() > 1 ? Worker::Arithmetic : Worker::Products;
  case fb::KernelKind::Attention:
    return Worker::Attention;
  default:
    return Worker::Arithmetic;
  }
}

/// Each parameter once, or twice if it is read and written.
uint64_t parameterBytes(const fb::Kernel &kernel) {
  uint64_t bytes = 0;
  for (const fb::Param *param : *kernel.params())
    bytes += param->bytes() * (param->access() == fb::Access::ReadWrite ? 2 : 1);
  return bytes;
}

} // namespace

/// The first parameter is a factor of products, or the queries of attention.
Work workOfLaunch(const fb::Kernel &kernel) {
  const auto &params = *kernel.params();
  return {.worker = workerOf(kernel),
          .factor = params.size() > 0 ? factorOf(params.Get(0)->dtype()) : Factor::Full,
          .flops = double(kernel.flops()),
          .arithmetic = double(kernel.arithmetic()),
          .bytes = double(kernel.moved_bytes().value_or(parameterBytes(kernel))),
          .threads = double(kernel.grid()) * kernel.threads(),
          .chain = double(kernel.chain())};
}

namespace {

// --- Library calls ---

/// Bytes of all operands, except the workspace, whose use is internal to the library. `bytesOf` returns the
/// bytes of one.
template <typename BytesOf> double operandBytes(const fb::Instruction &call, BytesOf bytesOf) {
  double bytes = 0;
  for (const LibraryOperand &each : libraryOperands(call))
    if (each.operand && !each.anyType)
      bytes += double(bytesOf(each.bytes)) * (each.reads && each.writes ? 2 : 1);
  return bytes;
}

double movedBytes(const fb::Instruction &call) {
  return operandBytes(call, [](const StridedBytes &bytes) { return bytes.padded().hull(); });
}

Work workOfProduct(const fb::Instruction &call, const fb::MatrixProduct &product) {
  const auto isAligned = [&](uint64_t row) { return row * elementBytes(product.factors()) % 16 == 0; };
  const double results = double(product.batch()) * double(product.m()) * double(product.n());
  return {.worker = Worker::Products,
          .factor = product.tf32() ? Factor::Tf32 : factorOf(product.factors()),
          .isAligned =
              isAligned(product.row_a()) && isAligned(product.row_b()) && isAligned(product.row_result()),
          .sumsBeside = product.side_sum() != fb::SideSum::None,
          .flops = libraryFlops(call),
          .arithmetic = product.activation() == fb::Activation::None ? 0 : kActivationFlops * results,
          .bytes = movedBytes(call)};
}

Work workOfAttention(const fb::Instruction &call, const fb::Attention &attention) {
  const bool backward = attention.pass() == fb::AttentionPass::Backward;
  return {.worker = backward ? Worker::LibraryAttentionGrad : Worker::LibraryAttention,
          .factor = factorOf(attention.values()),
          .flops = libraryFlops(call),
          .bytes = movedBytes(call)};
}

} // namespace

Work workOfCall(const fb::Instruction &call) {
  const fb::MatrixProduct *product = call.operation_as_MatrixProduct();
  return product ? workOfProduct(call, *product) : workOfAttention(call, *call.operation_as_Attention());
}

double compulsoryBytes(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (isLibraryCall(instruction))
    return operandBytes(instruction, [](const StridedBytes &bytes) { return bytes.occupied(); });
  const fb::Kernel &kernel = *plan.kernels()->Get(instruction.operation_as_Launch()->kernel());
  const uint64_t once = parameterBytes(kernel);
  return double(std::min(once, kernel.moved_bytes().value_or(once)));
}

// --- Transfers ---

Work workOfCopy(fb::Space source, fb::Space destination, double bytes) {
  if (source == fb::Space::Disk)
    return {.worker = Worker::DiskRead, .bytes = bytes};
  if (destination == fb::Space::Disk)
    return {.worker = Worker::DiskWrite, .bytes = bytes};
  if (source != destination)
    return {.worker = Worker::HostLink, .bytes = bytes};
  return {.bytes = 2 * bytes};
}

namespace {

std::string describeCopy(const fb::Plan &plan, const fb::Copy &copy) {
  const fb::Space source = facts::spaceOf(plan, *copy.source()),
                  destination = facts::spaceOf(plan, *copy.destination());
  const std::string size = fmt::format("{:.4g} MB", double(copy.bytes()) * 1e-6);
  return source == destination
             ? fmt::format("copy, {}", size)
             : fmt::format("copy from {} to {}, {}", wordOf(source), wordOf(destination), size);
}

std::string describeKernel(const fb::Kernel &kernel) {
  return fmt::format("{}{}", view(kernel.symbol()), kernel.on_host() ? " on the host" : "");
}

std::string describeProduct(const fb::MatrixProduct &product) {
  return fmt::format(
      "matrix product{} {} x {} x {} {}{}{}",
      product.batch() > 1 ? fmt::format(" batch {}", product.batch()) : "", product.m(), product.n(),
      product.k(), dtypeName(product.factors()), product.adds() ? " adds" : "",
      product.activation() == fb::Activation::None ? "" : fmt::format(" {}", wordOf(product.activation())));
}

} // namespace

std::optional<Work> workOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return workOfLaunch(*plan.kernels()->Get(launch->kernel()));
  if (isLibraryCall(instruction))
    return workOfCall(instruction);
  if (const fb::Copy *copy = instruction.operation_as_Copy())
    return workOfCopy(facts::spaceOf(plan, *copy->source()), facts::spaceOf(plan, *copy->destination()),
                      double(copy->bytes()));
  if (const fb::Zero *zero = instruction.operation_as_Zero())
    return Work{.bytes = double(zero->bytes())};
  return std::nullopt;
}

Exchange exchangeOf(const fb::Plan &plan, const fb::Collective &collective) {
  Exchange exchange{.group = shapeOf(plan, axesOf(*collective.axes())),
                    .rounds = traitsOf(collective.kind()).rounds};
  for (const fb::Range *range : *collective.ranges())
    exchange.bytesSent += double(ringBytes(
        exchange.rounds, int64_t(range->elements() * elementBytes(range->dtype())), exchange.group.members));
  return exchange;
}

double instructionSeconds(const fb::Plan &plan, const fb::Instruction &instruction, const Machine &machine) {
  if (const fb::Collective *collective = instruction.operation_as_Collective()) {
    const Exchange exchange = exchangeOf(plan, *collective);
    return collectiveSeconds(exchange.group, exchange.rounds, exchange.bytesSent, machine);
  }
  if (const fb::Loop *loop = instruction.operation_as_Loop()) {
    double once = 0;
    for (const fb::Instruction *inner : *loop->body())
      once += instructionSeconds(plan, *inner, machine);
    return double(loop->count()) * once;
  }
  return costOf(*workOf(plan, instruction), machine).seconds();
}

std::string describeInstruction(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return describeKernel(*plan.kernels()->Get(launch->kernel()));
  if (const fb::MatrixProduct *product = instruction.operation_as_MatrixProduct())
    return describeProduct(*product);
  if (isLibraryCall(instruction))
    return libraryCallName(instruction);
  if (const fb::Copy *copy = instruction.operation_as_Copy())
    return describeCopy(plan, *copy);
  if (const fb::Collective *collective = instruction.operation_as_Collective()) {
    const Exchange exchange = exchangeOf(plan, *collective);
    return fmt::format("{} over {} ranks, {:.4g} MB sent", collectiveName(collective->kind()),
                       exchange.group.members, exchange.bytesSent * 1e-6);
  }
  return instruction.operation_as_Zero() ? "zero" : "loop";
}

} // namespace trainc
