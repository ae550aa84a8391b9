#include "test/unit/plan/plans/plan_builder.h"

#include "base/hash.h"
#include "base/mapped_file.h"
#include "plan/facts/dtype.h"
#include "plan/schema/limits.h"
#include "test/unit/plan/plans/test_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace trainc::test {

namespace {

std::vector<uint8_t> testKernels() {
  auto file = MappedFile::open(testFile(TRAINC_TEST_KERNELS));
  if (!file.ok())
    std::abort();
  const auto bytes = file->bytes();
  std::vector<uint8_t> image(bytes.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  return image;
}

/// Appends an instruction that holds `operation`.
template <typename T> T &append(PlanBuilder::Body &body, T operation, uint32_t source) {
  auto &instruction = body.emplace_back(std::make_unique<fb::InstructionT>());
  instruction->operation.Set(std::move(operation));
  instruction->source = source;
  return *static_cast<T *>(instruction->operation.value);
}

} // namespace

PlanBuilder::PlanBuilder() {
  plan.name = "test";
  plan.producer = "test";
  plan.target = "cpu";
  arena("persistent", fb::Space::Device, true);
  arena("scratch", fb::Space::Device);
  auto &object = plan.objects.emplace_back(std::make_unique<fb::ObjectT>());
  object->level = "x86-64-v3";
  object->features = {"avx2", "fma"};
  object->image = testKernels();
  source("test.op", 1);
}

void PlanBuilder::setRanks(Grid grid) {
  plan.ranks = grid.ranks;
  plan.mesh.clear();
  const Mesh mesh = grid.mesh();
  for (const Axis &axis : mesh.axes()) {
    auto &table = plan.mesh.emplace_back(std::make_unique<fb::AxisT>());
    table->name = axis.name;
    table->size = axis.size;
  }
}

RankGroupShape shapeOf(const fb::PlanT &plan, const fb::Axes &axes) {
  std::vector<Axis> all;
  for (const auto &axis : plan.mesh)
    all.push_back({axis->name, axis->size});
  return Mesh(std::move(all)).shapeOf(axesOf(axes));
}

uint32_t PlanBuilder::arena(const std::string &name, fb::Space space, bool persistent) {
  auto &arena = plan.arenas.emplace_back(std::make_unique<fb::ArenaT>());
  arena->name = name;
  arena->space = space;
  arena->persistent = persistent;
  return static_cast<uint32_t>(plan.arenas.size() - 1);
}

uint32_t PlanBuilder::buffer(const std::string &name, uint32_t arena, fb::DType dtype, uint64_t elements,
                             fb::Role role) {
  auto &buffer = plan.buffers.emplace_back(std::make_unique<fb::BufferT>());
  buffer->name = name;
  buffer->arena = arena;
  const uint64_t alignment = plan.arenas[arena]->space == fb::Space::Disk ? kDiskAlignment : 64;
  buffer->offset = (plan.arenas[arena]->bytes + alignment - 1) / alignment * alignment;
  buffer->bytes = elements * elementBytes(dtype);
  buffer->dtype = dtype;
  buffer->role = role;
  plan.arenas[arena]->bytes = buffer->offset + buffer->bytes;
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t PlanBuilder::scalar(const std::string &name, fb::DType dtype, fb::Direction direction) {
  auto &scalar = plan.scalars.emplace_back(std::make_unique<fb::ScalarT>());
  scalar->name = name;
  scalar->dtype = dtype;
  scalar->direction = direction;
  scalar->buffer = buffer(name, kPersistent, dtype, 1);
  return scalar->buffer;
}

fb::StateT &PlanBuilder::state(const std::string &name, uint32_t buffer, std::vector<uint64_t> shape,
                               fb::Role role) {
  auto &state = plan.states.emplace_back(std::make_unique<fb::StateT>());
  state->name = name;
  state->buffer = buffer;
  state->shape = std::move(shape);
  state->role = role;
  return *state;
}

uint32_t PlanBuilder::kernel(const std::string &symbol, uint64_t grid,
                             std::initializer_list<ParamSpec> params) {
  auto &kernel = plan.kernels.emplace_back(std::make_unique<fb::KernelT>());
  kernel->symbol = symbol;
  kernel->grid = grid;
  for (const ParamSpec &spec : params) {
    auto &param = kernel->params.emplace_back(std::make_unique<fb::ParamT>());
    param->access = spec.access;
    param->dtype = spec.dtype;
    param->bytes = spec.bytes;
    param->may_alias = spec.mayAlias;
  }
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

uint32_t PlanBuilder::source(const std::string &op, uint32_t line) {
  auto &source = plan.sources.emplace_back(std::make_unique<fb::SourceT>());
  source->op = op;
  source->file = "test.mlir";
  source->line = line;
  return static_cast<uint32_t>(plan.sources.size() - 1);
}

fb::EntryT &PlanBuilder::entry(const std::string &name) {
  auto &entry = plan.entries.emplace_back(std::make_unique<fb::EntryT>());
  entry->name = name;
  return *entry;
}

void PlanBuilder::input(fb::EntryT &entry, const std::string &column, uint32_t buffer, fb::DType dtype,
                        std::vector<uint64_t> shape) {
  auto &input = entry.inputs.emplace_back(std::make_unique<fb::InputT>());
  input->column = column;
  input->buffer = buffer;
  input->dtype = dtype;
  input->shape = std::move(shape);
}

void PlanBuilder::launch(Body &body, uint32_t kernel, std::vector<fb::Operand> args, uint32_t source) {
  fb::LaunchT launch;
  launch.kernel = kernel;
  launch.args = std::move(args);
  append(body, std::move(launch), source);
}

void PlanBuilder::copy(Body &body, fb::Operand from, fb::Operand to, uint64_t bytes, uint32_t source) {
  fb::CopyT copy;
  copy.source = std::make_unique<fb::Operand>(from);
  copy.destination = std::make_unique<fb::Operand>(to);
  copy.bytes = bytes;
  append(body, std::move(copy), source);
}

void PlanBuilder::transfer(Body &body, fb::Stream stream, fb::Operand from, fb::Operand to, uint64_t bytes) {
  const auto spaceOf = [&](const fb::Operand &operand) {
    return plan.arenas[plan.buffers[operand.buffer()]->arena]->space;
  };
  copy(body, from, to, bytes);
  on(body, stream);
  if (spaceOf(from) > spaceOf(to))
    plan.buffers[to.buffer()]->fetched = std::make_unique<fb::Operand>(from);
  else
    plan.buffers[from.buffer()]->stored.push_back(to);
}

void PlanBuilder::zero(Body &body, fb::Operand to, uint64_t bytes, uint32_t source) {
  fb::ZeroT zero;
  zero.destination = std::make_unique<fb::Operand>(to);
  zero.bytes = bytes;
  append(body, std::move(zero), source);
}

void PlanBuilder::collective(Body &body, const CollectiveSpec &spec, uint32_t source) {
  fb::CollectiveT collective;
  collective.kind = spec.kind;
  collective.axes = std::make_unique<fb::Axes>(spec.axes.first, spec.axes.end);
  for (const RangeSpec &each : spec.ranges) {
    auto &range = collective.ranges.emplace_back(std::make_unique<fb::RangeT>());
    range->source = std::make_unique<fb::Operand>(each.source);
    range->destination = std::make_unique<fb::Operand>(each.destination);
    range->elements = each.elements;
    range->dtype = each.dtype;
    range->widens = each.widens;
  }
  append(body, std::move(collective), source);
  body.back()->stream = fb::Stream::Communication;
}

void PlanBuilder::product(Body &body, fb::MatrixProductT product, uint32_t source) {
  append(body, std::move(product), source);
}

void PlanBuilder::attention(Body &body, fb::AttentionT attention, uint32_t source) {
  append(body, std::move(attention), source);
}

fb::MatrixProductT denseProduct(uint64_t m, uint64_t n, uint64_t k, bool transposeA, bool transposeB) {
  fb::MatrixProductT product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.transpose_a = transposeA;
  product.transpose_b = transposeB;
  product.row_a = transposeA ? m : k;
  product.row_b = transposeB ? k : n;
  product.row_result = n;
  return product;
}

PlanBuilder::Body &PlanBuilder::loop(Body &body, uint64_t count, uint32_t source) {
  fb::LoopT loop;
  loop.count = count;
  return append(body, std::move(loop), source).body;
}

std::vector<uint8_t> PlanBuilder::payload() const {
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishPlanBuffer(builder, fb::Plan::Pack(builder, &plan));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

PlanBytes::PlanBytes(const std::vector<uint8_t> &payload)
    : storage_(payload.size() + sizeof(PlanFileHeader) + 64), size_(payload.size() + sizeof(PlanFileHeader)) {
  header() = makePlanFileHeader(payload);
  std::memcpy(this->payload().data(), payload.data(), payload.size());
}

std::byte *PlanBytes::aligned() {
  return reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(storage_.data()) + 63) & ~uintptr_t{63});
}

void PlanBytes::seal() { header().payloadChecksum = xxh3(payload()); }

Result<const fb::Plan *> PlanBytes::read() { return readPlan(file(), "test.plan"); }

} // namespace trainc::test
