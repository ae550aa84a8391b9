#include "test/unit/runtime/flow_interpreter.h"

#include <optional>
#include <vector>

namespace trainc::test {

namespace {

/// What a byte holds.
struct Held {
  uint32_t buffer;
  bool exact, read;
};

class Interpreter {
public:
  Interpreter(const fb::PlanT &plan, uint32_t place) : plan_(plan), place_(place) {
    for (const auto &arena : plan.arenas)
      arenas_.emplace_back(arena->bytes);
  }

  bool run(const std::vector<std::unique_ptr<fb::InstructionT>> &body, int64_t iteration) {
    for (const auto &instruction : body) {
      if (const fb::LoopT *loop = instruction->operation.AsLoop()) {
        for (uint64_t i = 0; i < loop->count; ++i)
          if (!run(loop->body, int64_t(i)))
            return false;
      } else if (!runOne(*instruction, iteration)) {
        return false;
      }
    }
    return true;
  }

private:
  bool runOne(const fb::InstructionT &instruction, int64_t iteration) {
    if (const fb::CopyT *copy = instruction.operation.AsCopy())
      return read(*copy->source, copy->bytes, iteration) &&
             write(*copy->destination, copy->bytes, iteration, true);
    if (const fb::ZeroT *zero = instruction.operation.AsZero())
      return write(*zero->destination, zero->bytes, iteration, true);
    const fb::LaunchT &launch = *instruction.operation.AsLaunch();
    const auto &params = plan_.kernels[launch.kernel]->params;
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i]->access != fb::Access::Write && !read(launch.args[i], params[i]->bytes, iteration))
        return false;
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i]->access != fb::Access::Read && !write(launch.args[i], params[i]->bytes, iteration, false))
        return false;
    return true;
  }

  std::optional<Held> *bytesOf(const fb::Operand &operand, int64_t iteration) {
    const fb::BufferT &buffer = *plan_.buffers[operand.buffer()];
    return arenas_[buffer.arena].data() + buffer.offset + operand.offset() +
           iteration * operand.loop_stride() + place_ * operand.rank_stride();
  }

  bool read(const fb::Operand &operand, uint64_t bytes, int64_t iteration) {
    const bool persistent = plan_.arenas[plan_.buffers[operand.buffer()]->arena]->persistent;
    std::optional<Held> *held = bytesOf(operand, iteration);
    for (uint64_t i = 0; i < bytes; ++i) {
      if (held[i] ? held[i]->buffer != operand.buffer() : !persistent)
        return false;
      if (held[i])
        held[i]->read = true;
    }
    return true;
  }

  bool write(const fb::Operand &operand, uint64_t bytes, int64_t iteration, bool exact) {
    std::optional<Held> *held = bytesOf(operand, iteration);
    for (uint64_t i = 0; i < bytes; ++i) {
      if (held[i] && held[i]->buffer == operand.buffer() && !held[i]->read && (exact || held[i]->exact))
        return false;
      held[i] = Held{operand.buffer(), exact, false};
    }
    return true;
  }

  const fb::PlanT &plan_;
  uint32_t place_;
  std::vector<std::vector<std::optional<Held>>> arenas_;
};

} // namespace

bool isSound(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t place) {
  return Interpreter(plan, place).run(entry.instructions, 0);
}

} // namespace trainc::test
