// Faults in where operands lie.
#include "test/unit/plan/verify/plan_mutants.h"

#include "plan/facts/dtype.h"
#include "test/unit/plan/plans/library_bytes.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace trainc::test {

namespace {

constexpr uint32_t kNotInLoop = ~uint32_t{0};

/// An instruction of an entry, or of the body of a loop in it.
struct Position {
  size_t entry, index;
  uint32_t inner = kNotInLoop;

  fb::InstructionT &in(const fb::PlanT &plan) const {
    fb::InstructionT &instruction = *plan.entries[entry]->instructions[index];
    return inner == kNotInLoop ? instruction : *instruction.operation.AsLoop()->body[inner];
  }
  uint64_t iterations(const fb::PlanT &plan) const {
    return inner == kNotInLoop ? 1 : plan.entries[entry]->instructions[index]->operation.AsLoop()->count;
  }
  std::string text(const fb::PlanT &plan) const {
    return fmt::format("entry {}, instruction {}{}", plan.entries[entry]->name, index,
                       inner == kNotInLoop ? "" : fmt::format(".{}", inner));
  }
};

/// An operand of an instruction.
struct Operand {
  fb::Operand *operand;
  uint64_t bytes;
  bool reads;
};

std::vector<Operand> operandsOf(const fb::PlanT &plan, fb::InstructionT &instruction) {
  std::vector<Operand> operands;
  if (fb::LaunchT *launch = instruction.operation.AsLaunch()) {
    for (size_t i = 0; i < launch->args.size(); ++i) {
      const fb::ParamT &param = *plan.kernels[launch->kernel]->params[i];
      operands.push_back({&launch->args[i], param.bytes, param.access != fb::Access::Write});
    }
  } else if (fb::CopyT *copy = instruction.operation.AsCopy()) {
    operands = {{copy->source.get(), copy->bytes, true}, {copy->destination.get(), copy->bytes, false}};
  } else if (fb::ZeroT *zero = instruction.operation.AsZero()) {
    operands = {{zero->destination.get(), zero->bytes, false}};
  }
  for (const LibraryUse &use : libraryUses(instruction))
    operands.push_back({use.operand, use.extent(), use.reads});
  return operands;
}

class AddressMaker {
public:
  explicit AddressMaker(const fb::PlanT &plan) : plan_(plan) {}

  std::vector<Mutant> make() {
    for (size_t entry = 0; entry < plan_.entries.size(); ++entry)
      for (size_t i = 0; i < plan_.entries[entry]->instructions.size(); ++i) {
        at({entry, i});
        if (const fb::LoopT *loop = plan_.entries[entry]->instructions[i]->operation.AsLoop()) {
          for (uint32_t inner = 0; inner < loop->body.size(); ++inner)
            at({entry, i, inner});
          changeBody(entry, i, *loop);
        }
      }
    return std::move(mutants_);
  }

private:
  void add(const char *kind, const Position &position, const std::string &what,
           std::function<void(fb::PlanT &)> apply) {
    mutants_.push_back(
        {kind, fmt::format("{} in {}: {}", kind, position.text(plan_), what), std::move(apply)});
  }

  void at(const Position &position) {
    if (position.in(plan_).operation.AsLaunch())
      shareArguments(position);
    shareOperands(position);
    const std::vector<Operand> operands = operandsOf(plan_, position.in(plan_));
    for (size_t i = 0; i < operands.size(); ++i) {
      moveByRank(position, i, operands[i]);
      if (position.inner != kNotInLoop)
        advance(position, i, operands[i]);
      if (position.inner == kNotInLoop && operands[i].reads && operands[i].operand->rank_stride() != 0)
        overwritePlaces(position, operands[i]);
    }
  }

  /// Whether all that the operand touches, in all iterations on all ranks, lies within its buffer.
  bool fits(const Position &position, const fb::Operand &operand, uint64_t bytes) const {
    const int64_t travel = int64_t(position.iterations(plan_) - 1) * operand.loop_stride();
    const auto shift = int64_t((shapeOf(plan_, operand.axes()).members - 1) * operand.rank_stride());
    const auto begin = int64_t(operand.offset());
    return begin + std::min<int64_t>(travel, 0) >= 0 &&
           begin + std::max<int64_t>(travel, 0) + shift + int64_t(bytes) <=
               int64_t(plan_.buffers[operand.buffer()]->bytes);
  }

  /// Replaces an operand, where it fits.
  void replace(const char *kind, const Position &position, size_t index, const Operand &operand,
               const fb::Operand &by) {
    if (!fits(position, by, operand.bytes))
      return;
    add(kind, position,
        fmt::format("operand {} at {} + i*{} + rank*{} of '{}'", index, by.offset(), by.loop_stride(),
                    by.rank_stride(), plan_.buffers[by.buffer()]->name),
        [=](fb::PlanT &plan) { *operandsOf(plan, position.in(plan))[index].operand = by; });
  }

  /// Makes an argument overlap another one, and revokes the kernel's permission to alias.
  void shareArguments(const Position &position) {
    const fb::LaunchT &launch = *position.in(plan_).operation.AsLaunch();
    const auto &params = plan_.kernels[launch.kernel]->params;
    const std::vector<Operand> operands = operandsOf(plan_, position.in(plan_));
    for (size_t i = 0; i < params.size(); ++i)
      for (size_t j = 0; j < params.size(); ++j) {
        const bool written = params[i]->access != fb::Access::Read || params[j]->access != fb::Access::Read;
        if (i == j || !written || params[i]->dtype != params[j]->dtype)
          continue;
        for (const uint64_t distance : {0, 64}) {
          const fb::Operand &over = launch.args[j];
          replace("argument", position, i, operands[i],
                  fb::Operand(over.offset() + distance, over.loop_stride(), over.rank_stride(), over.buffer(),
                              over.axes()));
        }
        if (std::ranges::count(params[i]->may_alias, j) > 0 && isInPlace(launch, i, j))
          add("argument", position, fmt::format("{} may not alias {}", i, j),
              [=](fb::PlanT &plan) { plan.kernels[launch.kernel]->params[i]->may_alias.clear(); });
      }
  }

  /// Lays an operand of a library call over another one.
  void shareOperands(const Position &position) {
    const std::vector<LibraryUse> uses = libraryUses(position.in(plan_));
    const std::vector<Operand> operands = operandsOf(plan_, position.in(plan_));
    for (size_t i = 0; i < uses.size(); ++i)
      for (size_t j = 0; j < uses.size(); ++j)
        for (const uint64_t distance : {0, 64})
          if (const fb::Operand &over = *uses[j].operand; i != j && (uses[i].writes || uses[j].writes))
            replace("argument", position, i, operands[i],
                    fb::Operand(over.offset() + distance, over.loop_stride(), over.rank_stride(),
                                over.buffer(), over.axes()));
  }

  bool isInPlace(const fb::LaunchT &launch, size_t i, size_t j) const {
    const auto address = [&](const fb::Operand &operand) {
      return std::pair(plan_.buffers[operand.buffer()]->arena,
                       plan_.buffers[operand.buffer()]->offset + operand.offset());
    };
    return address(launch.args[i]) == address(launch.args[j]);
  }

  /// Moves an operand by the place otherwise.
  void moveByRank(const Position &position, size_t index, const Operand &operand) {
    if (plan_.ranks == 1)
      return;
    const fb::Operand &old = *operand.operand;
    const uint64_t stride = old.rank_stride();
    std::set<uint64_t> others = {0, stride + 64, operand.bytes, 2 * stride};
    if (stride >= 64)
      others.insert(stride - 64);
    others.erase(stride);
    for (const uint64_t other : others)
      replace("place", position, index, operand,
              test::at(old.buffer(), old.offset(), old.loop_stride(), other));
  }

  /// Advances an operand of a loop otherwise.
  void advance(const Position &position, size_t index, const Operand &operand) {
    const fb::Operand &old = *operand.operand;
    const int64_t stride = old.loop_stride(),
                  element = int64_t(elementBytes(plan_.buffers[old.buffer()]->dtype));
    std::set<int64_t> others = {0,
                                stride + element,
                                stride - element,
                                2 * stride,
                                stride / 2 / element * element,
                                int64_t(operand.bytes)};
    others.erase(stride);
    for (const int64_t other : others)
      replace("stride", position, index, operand,
              fb::Operand(old.offset(), other, old.rank_stride(), old.buffer(), old.axes()));
    const int64_t last = int64_t(old.offset()) + int64_t(position.iterations(plan_) - 1) * stride;
    if (stride != 0) // backwards
      replace("stride", position, index, operand,
              fb::Operand(uint64_t(last), -stride, old.rank_stride(), old.buffer(), old.axes()));
  }

  /// Overwrites, through a separate buffer, bytes that the rank at a single place is about to read.
  void overwritePlaces(const Position &position, const Operand &operand) {
    const fb::BufferT &held = *plan_.buffers[operand.operand->buffer()];
    if (plan_.arenas[held.arena]->persistent)
      return;
    for (uint64_t place = 0; place < shapeOf(plan_, operand.operand->axes()).members; ++place) {
      const uint64_t part = held.offset + operand.operand->offset() + place * operand.operand->rank_stride(),
                     begin = (part + 63) / 64 * 64;
      if (begin + 4 > part + operand.bytes)
        continue;
      const uint32_t arena = held.arena;
      add("place", position, fmt::format("overwritten before at place {}", place), [=](fb::PlanT &plan) {
        auto &buffer = plan.buffers.emplace_back(std::make_unique<fb::BufferT>());
        buffer->name = "other";
        buffer->arena = arena;
        buffer->offset = begin;
        buffer->bytes = 4;
        fb::ZeroT zero;
        zero.destination = std::make_unique<fb::Operand>(test::at(uint32_t(plan.buffers.size() - 1)));
        zero.bytes = 4;
        insert(plan, position, std::move(zero));
      });
    }
  }

  /// Inserts a zeroing before an instruction, which then comes after it.
  static void insert(fb::PlanT &plan, const Position &position, fb::ZeroT zero) {
    auto &instructions = plan.entries[position.entry]->instructions;
    for (auto &instruction : instructions)
      for (uint32_t &other : instruction->after)
        other += other >= position.index;
    auto made = std::make_unique<fb::InstructionT>();
    made->operation.Set(std::move(zero));
    made->source = instructions[position.index]->source;
    instructions.insert(instructions.begin() + ptrdiff_t(position.index), std::move(made));
  }

  /// Leaves out instructions of a body, swaps them, and lays the buffers that they use over each other.
  void changeBody(size_t entry, size_t index, const fb::LoopT &loop) {
    const auto bodyOf = [=](fb::PlanT &plan) -> auto & {
      return plan.entries[entry]->instructions[index]->operation.AsLoop()->body;
    };
    std::set<uint32_t> buffers;
    for (uint32_t i = 0; i < loop.body.size(); ++i) {
      for (const Operand &operand : operandsOf(plan_, *loop.body[i]))
        if (!plan_.arenas[plan_.buffers[operand.operand->buffer()]->arena]->persistent)
          buffers.insert(operand.operand->buffer());
      add("body", {entry, index, i}, "left out",
          [=](fb::PlanT &plan) { bodyOf(plan).erase(bodyOf(plan).begin() + i); });
      for (uint32_t j = i + 1; j < loop.body.size(); ++j)
        add("body", {entry, index, i}, fmt::format("swapped with {}", j),
            [=](fb::PlanT &plan) { std::swap(bodyOf(plan)[i], bodyOf(plan)[j]); });
    }
    for (const uint32_t a : buffers)
      for (const uint32_t b : buffers)
        if (a != b && plan_.buffers[a]->bytes <= plan_.buffers[b]->bytes &&
            plan_.buffers[a]->arena == plan_.buffers[b]->arena)
          add("body", {entry, index},
              fmt::format("'{}' laid over '{}'", plan_.buffers[a]->name, plan_.buffers[b]->name),
              [=](fb::PlanT &plan) { plan.buffers[a]->offset = plan.buffers[b]->offset; });
  }

  const fb::PlanT &plan_;
  std::vector<Mutant> mutants_;
};

} // namespace

std::vector<Mutant> addressMutants(const fb::PlanT &plan) {
  std::vector<Mutant> mutants = AddressMaker(plan).make();
  std::ranges::move(libraryMutants(plan), std::back_inserter(mutants));
  std::ranges::move(copyMutants(plan), std::back_inserter(mutants));
  return mutants;
}

} // namespace trainc::test
