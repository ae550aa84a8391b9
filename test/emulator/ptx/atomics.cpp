// atom and red: lanes execute in order.
#include "test/emulator/ptx/access.h"
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"
#include "test/emulator/ptx/operations.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

struct Exchange {
  template <typename T> static T of(T, T by) { return by; }
};
struct CompareAndSwap {
  template <typename T> static T of(T old, T expected, T by) { return old == expected ? by : old; }
};
/// Increments up to a bound, then wraps to zero.
struct Increment {
  template <typename T> static T of(T old, T bound) { return old >= bound ? 0 : old + 1; }
};
struct Decrement {
  template <typename T> static T of(T old, T bound) { return old == 0 || old > bound ? bound : old - 1; }
};

/// reads: address, operand, and a second one for compare-and-swap. writes: the old value, for atom.
template <typename F, typename T> void update(const Instruction &instruction, Warp &warp) {
  alignas(64) std::array<T, kLanes> old;
  const T *const by = warp.at<T>(instruction.reads[1]);
  const T *const second = warp.at<T>(instruction.reads.back());
  for (uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Place place = accessed(warp, lane, instruction.space, addressOf(instruction, warp, lane), sizeof(T),
                                 Access::kAtomic);
    if (!place.bytes)
      return;
    std::memcpy(&old[lane], place.bytes, sizeof(T));
    T result;
    if constexpr (std::is_same_v<F, CompareAndSwap>)
      result = F::of(old[lane], by[lane], second[lane]);
    else
      result = F::of(old[lane], by[lane]);
    std::memcpy(place.bytes, &result, sizeof(T));
  }
  if (!instruction.writes.empty())
    forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return old[lane]; });
}

/// The sum would depend on the order of threads, which is undefined.
void refuseFloats(const Instruction &, Warp &warp) {
  warp.fail(static_cast<unsigned>(std::countr_zero(warp.active)),
            "atomics on floats are forbidden: their result depends on the order of threads");
}

template <typename F> Handler updatingHandler(Type type) {
  if (type.isSigned())
    return type.bits == 32 ? update<F, int32_t> : update<F, int64_t>;
  return type.bits == 16 ? update<F, uint16_t> : type.bits == 32 ? update<F, uint32_t> : update<F, uint64_t>;
}

struct Operation {
  std::string_view name;
  Handler (*handler)(Type);
};

constexpr Operation kOperations[] = {
    {"add", updatingHandler<Add>},       {"and", updatingHandler<And>},
    {"or", updatingHandler<Or>},         {"xor", updatingHandler<Xor>},
    {"min", updatingHandler<Least>},     {"max", updatingHandler<Most>},
    {"inc", updatingHandler<Increment>}, {"dec", updatingHandler<Decrement>},
    {"exch", updatingHandler<Exchange>}, {"cas", updatingHandler<CompareAndSwap>},
};

void decodeAtomic(Decoding &decoding, bool hasResult) {
  decoding.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  decoding.takeOneOf({"cta", "cluster", "gpu", "sys"});
  const std::string_view space = decoding.takeOneOf({"global", "shared", "shared::cta"});
  decoding.instruction.space = space.empty()       ? Space::kGeneric
                               : space == "global" ? Space::kGlobal
                                                   : Space::kShared;
  const Operation *operation = nullptr;
  for (const Operation &known : kOperations)
    if (decoding.take(known.name))
      operation = &known;
  if (!operation)
    return decoding.fail("expected what to do, such as .add");
  decoding.takeOneOf({"noftz"});
  const Type type = decoding.takeType();
  const size_t operands = (hasResult ? 3 : 2) + (operation->name == "cas" ? 1 : 0);
  decoding.expectOperands(operands, operands);
  if (hasResult)
    decoding.write(0, type);
  const size_t address = hasResult ? 1 : 0;
  decoding.readAddress(address);
  for (size_t index = address + 1; index < operands; ++index)
    decoding.read(index, type);
  if (type.width() < 16 || (type.bits == 16 && !type.isFloat() && operation->name != "cas"))
    decoding.fail("there is no atomic .{} of {}", operation->name, type.name());
  const bool isArithmetic = operation->name != "exch" && operation->name != "cas";
  decoding.instruction.execute = type.isFloat() && isArithmetic
                                     ? refuseFloats
                                     : operation->handler({type.isFloat() ? Type::Kind::kBits : type.kind,
                                                           static_cast<uint8_t>(type.width())});
}

} // namespace

void addAtomicDecoders(Decoders &decoders) {
  decoders["atom"] = [](Decoding &decoding) { decodeAtomic(decoding, /*hasResult=*/true); };
  decoders["red"] = [](Decoding &decoding) { decodeAtomic(decoding, /*hasResult=*/false); };
}

} // namespace trainc::emulator
