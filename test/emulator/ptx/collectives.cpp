// Warp-level instructions: shfl, vote, match, redux and bar.warp.
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"
#include "test/emulator/ptx/operations.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

enum class Shuffle : uint8_t { kUp, kDown, kButterfly, kIndexed };

/// The lane that a lane reads from; itself if out of its segment.
struct Partner {
  unsigned lane;
  bool isInSegment;
};

Partner partnerOf(unsigned lane, Shuffle mode, uint32_t by, uint32_t clamp) {
  const uint32_t offset = by & 31, bound = clamp & 31, segment = clamp >> 8 & 31;
  const auto last = static_cast<int>((lane & segment) | (bound & ~segment));
  const uint32_t first = lane & segment;
  int partner = 0;
  switch (mode) {
  case Shuffle::kUp:
    partner = static_cast<int>(lane) - static_cast<int>(offset);
    break;
  case Shuffle::kDown:
    partner = static_cast<int>(lane + offset);
    break;
  case Shuffle::kButterfly:
    partner = static_cast<int>(lane ^ offset);
    break;
  case Shuffle::kIndexed:
    partner = static_cast<int>(first | (offset & ~segment));
    break;
  }
  const bool isInSegment = mode == Shuffle::kUp ? partner >= last : partner <= last;
  return {isInSegment ? static_cast<unsigned>(partner) : lane, isInSegment};
}

/// reads: value, offset, clamp and segments, members.
void shuffle(const Instruction &instruction, Warp &warp) {
  std::array<uint32_t, kLanes> from;
  std::memcpy(from.data(), warp.at<uint32_t>(instruction.reads[0]), sizeof from);
  const uint32_t *const by = warp.at<uint32_t>(instruction.reads[1]), *const clamp = warp.at<uint32_t>(
                                                                          instruction.reads[2]);
  const auto mode = static_cast<Shuffle>(instruction.detail);
  std::array<Partner, kLanes> partners;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    partners[lane] = partnerOf(lane, mode, by[lane], clamp[lane]);
    if ((warp.active >> lane & 1) != 0 && (warp.active >> partners[lane].lane & 1) == 0)
      return warp.fail(lane, fmt::format("reads from lane {}, which the member mask {:#x} does not name",
                                         partners[lane].lane, warp.active));
  }
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) { return from[partners[lane].lane]; });
  if (instruction.writes.size() > 1)
    setPredicate(warp, instruction.writes[1],
                 lanesWhere([&](unsigned lane) { return partners[lane].isInSegment; }));
}

void makeCollective(Decoding &decoding, size_t membersOperand) {
  if (!decoding.take("sync"))
    decoding.fail("the emulator knows .sync alone, with a mask of members");
  decoding.read(membersOperand, {Type::Kind::kBits, 32});
  decoding.instruction.flow = Flow::kCollective;
  decoding.instruction.members = static_cast<int16_t>(decoding.instruction.reads.size() - 1);
}

void decodeShuffle(Decoding &decoding) {
  const Type word = {Type::Kind::kBits, 32};
  const std::string_view mode = decoding.takeOneOf({"up", "down", "bfly", "idx"});
  decoding.instruction.detail = static_cast<uint64_t>(mode == "up"     ? Shuffle::kUp
                                                      : mode == "down" ? Shuffle::kDown
                                                      : mode == "bfly" ? Shuffle::kButterfly
                                                                       : Shuffle::kIndexed);
  if (mode.empty() || decoding.takeType() != word)
    decoding.fail("expected .up, .down, .bfly or .idx, and .b32");
  decoding.expectOperands(5, 5);
  decoding.writePair(0, word);
  for (size_t index = 1; index < 4; ++index)
    decoding.read(index, word);
  makeCollective(decoding, 4);
  decoding.instruction.execute = shuffle;
}

enum class Vote : uint8_t { kAll, kAny, kUniform, kBallot };
constexpr uint64_t kVoteNegates = 16;

/// reads: predicate, members.
void vote(const Instruction &instruction, Warp &warp) {
  uint32_t votes = *warp.at<uint32_t>(instruction.reads[0]);
  votes = ((instruction.detail & kVoteNegates) != 0 ? ~votes : votes) & warp.active;
  const auto kind = static_cast<Vote>(instruction.detail & 15);
  if (kind == Vote::kBallot)
    return forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned) { return votes; });
  const bool areAll = votes == warp.active;
  const bool holds = kind == Vote::kAll ? areAll : kind == Vote::kAny ? votes != 0 : areAll || votes == 0;
  setPredicate(warp, instruction.writes[0], holds ? kAllLanes : 0);
}

void decodeVote(Decoding &decoding) {
  const std::string_view name = decoding.takeOneOf({"all", "any", "uni", "ballot"});
  const Vote kind = name == "all"   ? Vote::kAll
                    : name == "any" ? Vote::kAny
                    : name == "uni" ? Vote::kUniform
                                    : Vote::kBallot;
  const Type type = decoding.takeType();
  if (name.empty() ||
      type != (kind == Vote::kBallot ? Type{Type::Kind::kBits, 32} : Type{Type::Kind::kPredicate, 1}))
    decoding.fail("expected .all, .any or .uni and .pred, or .ballot and .b32");
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.instruction.detail = static_cast<uint64_t>(kind) | (decoding.readPredicate(1) ? kVoteNegates : 0);
  makeCollective(decoding, 2);
  decoding.instruction.execute = vote;
}

/// The lanes with the same value; with `detail`, all lanes or none.
template <typename T> void match(const Instruction &instruction, Warp &warp) {
  std::array<T, kLanes> values;
  std::memcpy(values.data(), warp.at<T>(instruction.reads[0]), sizeof values);
  const auto equals = [&](unsigned lane) {
    return lanesWhere([&](unsigned other) { return values[other] == values[lane]; }) & warp.active;
  };
  if (instruction.detail == 0)
    return forLanes<uint32_t>(warp, instruction.writes[0], equals);
  const bool areEqual = equals(static_cast<unsigned>(std::countr_zero(warp.active))) == warp.active;
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned) { return areEqual ? warp.active : 0; });
  if (instruction.writes.size() > 1)
    setPredicate(warp, instruction.writes[1], areEqual ? kAllLanes : 0);
}

void decodeMatch(Decoding &decoding) {
  decoding.instruction.detail = decoding.take("all");
  if (decoding.instruction.detail == 0 && !decoding.take("any"))
    decoding.fail("expected .any or .all");
  const Type type = decoding.takeType();
  decoding.expectOperands(3, 3);
  decoding.writePair(0, {Type::Kind::kBits, 32});
  decoding.read(1, type);
  makeCollective(decoding, 2);
  decoding.instruction.execute = type.bits == 32 ? match<uint32_t> : match<uint64_t>;
}

template <typename F, typename T> void reduce(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(warp.active));
  T result = a[first];
  for (unsigned lane = first + 1; lane < kLanes; ++lane)
    if ((warp.active >> lane & 1) != 0)
      result = F::of(result, a[lane]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned) { return result; });
}

void decodeReduce(Decoding &decoding) {
  const std::string_view name = decoding.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  const Type type = decoding.takeType();
  if (name.empty() || type.bits != 32 || type.isFloat())
    decoding.fail("expected what to do, such as .add, with whole numbers of 32 bits");
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.read(1, type);
  makeCollective(decoding, 2);
  const bool isSigned = type.isSigned();
  decoding.instruction.execute = name == "add"   ? reduce<Add, uint32_t>
                                 : name == "and" ? reduce<And, uint32_t>
                                 : name == "or"  ? reduce<Or, uint32_t>
                                 : name == "xor" ? reduce<Xor, uint32_t>
                                 : name == "min" ? isSigned ? reduce<Least, int32_t> : reduce<Least, uint32_t>
                                 : isSigned      ? reduce<Most, int32_t>
                                                 : reduce<Most, uint32_t>;
}

void activeMask(const Instruction &instruction, Warp &warp) {
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned) { return warp.active; });
}

void decodeActiveMask(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.expectOperands(1, 1);
  decoding.write(0, type);
  decoding.instruction.execute = activeMask;
}

/// Elects the first member.
void elect(const Instruction &instruction, Warp &warp) {
  const auto leader = static_cast<uint32_t>(std::countr_zero(warp.active));
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned) { return leader; });
  setPredicate(warp, instruction.writes[1], 1U << leader);
}

void decodeElect(Decoding &decoding) {
  decoding.expectOperands(2, 2);
  decoding.writePair(0, {Type::Kind::kBits, 32});
  makeCollective(decoding, 1);
  if (decoding.instruction.writes.size() != 2)
    decoding.fail("expected d|p");
  decoding.instruction.execute = elect;
}

} // namespace

void addCollectiveDecoders(Decoders &decoders) {
  decoders["shfl"] = decodeShuffle;
  decoders["vote"] = decodeVote;
  decoders["match"] = decodeMatch;
  decoders["redux"] = decodeReduce;
  decoders["activemask"] = decodeActiveMask;
  decoders["elect"] = decodeElect;
}

} // namespace trainc::emulator
