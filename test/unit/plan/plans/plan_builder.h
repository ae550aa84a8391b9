// Hand-made plans for tests, through the FlatBuffers object API.
#pragma once

#include "plan/file/file.h"
#include "plan/schema/plan_generated.h"
#include "test/unit/common/grid.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace trainc::test {

/// A kernel parameter: how it is used and for how many bytes, and over which others.
struct ParamSpec {
  fb::Access access;
  fb::DType dtype;
  uint64_t bytes;
  std::vector<uint32_t> mayAlias = {};
};

/// One tensor that a collective moves.
struct RangeSpec {
  fb::Operand source, destination;
  uint64_t elements; ///< of the whole tensor
  fb::DType dtype = fb::DType::F32;
  bool widens = false;
};

struct CollectiveSpec {
  fb::CollectiveKind kind;
  std::vector<RangeSpec> ranges;
  Axes axes = kShard;
};

/// The instructions, by their place in the entry, that one on another stream comes after.
using After = std::vector<uint32_t>;

/// Builds a plan piece by piece; `plan` stays open to any further change. Arena 0 is "persistent", 1 is
/// "scratch".
class PlanBuilder {
public:
  static constexpr uint32_t kPersistent = 0, kScratch = 1;

  /// A plan without entries, with the code of test_kernels.c as its only object.
  PlanBuilder();

  /// Sets the ranks and their mesh.
  void setRanks(Grid grid);
  /// Appends an arena. Returns its index.
  uint32_t arena(const std::string &name, fb::Space space, bool persistent = false);
  /// Appends a buffer, aligned to 64 bytes or on disk to 4096, and grows its arena. Returns its index.
  uint32_t buffer(const std::string &name, uint32_t arena, fb::DType dtype, uint64_t elements,
                  fb::Role role = fb::Role::Workspace);
  /// A buffer of one element in the persistent arena, exchanged with the host.
  uint32_t scalar(const std::string &name, fb::DType dtype, fb::Direction direction);
  /// A state over an f32 buffer.
  fb::StateT &state(const std::string &name, uint32_t buffer, std::vector<uint64_t> shape, fb::Role role);
  uint32_t kernel(const std::string &symbol, uint64_t grid, std::initializer_list<ParamSpec> params);
  /// A source op at `line` of "test.mlir".
  uint32_t source(const std::string &op, uint32_t line);

  fb::EntryT &entry(const std::string &name);
  void input(fb::EntryT &entry, const std::string &column, uint32_t buffer, fb::DType dtype,
             std::vector<uint64_t> shape);

  using Body = std::vector<std::unique_ptr<fb::InstructionT>>;
  void launch(Body &body, uint32_t kernel, std::vector<fb::Operand> args, uint32_t source = 0);
  void copy(Body &body, fb::Operand from, fb::Operand to, uint64_t bytes, uint32_t source = 0);
  /// A copy between the begin of a buffer and a place in another space, on the stream of such copies.
  void transfer(Body &body, fb::Stream stream, fb::Operand from, fb::Operand to, uint64_t bytes);
  void zero(Body &body, fb::Operand to, uint64_t bytes, uint32_t source = 0);
  void collective(Body &body, const CollectiveSpec &collective, uint32_t source = 0);
  /// A library call. Its operands are made by some(at(...)).
  void product(Body &body, fb::MatrixProductT product, uint32_t source = 0);
  void attention(Body &body, fb::AttentionT attention, uint32_t source = 0);
  /// Says on which stream the last instruction of an entry runs.
  static void on(Body &body, fb::Stream stream) { body.back()->stream = stream; }
  /// Sets the dependencies of the last instruction of an entry.
  static void after(Body &body, After instructions) { body.back()->after = std::move(instructions); }
  /// Returns the loop's body.
  Body &loop(Body &body, uint64_t count, uint32_t source = 0);

  /// The FlatBuffer.
  std::vector<uint8_t> payload() const;

  fb::PlanT plan;
};

/// Operand at the beginning of a buffer, or further on.
inline fb::Operand at(uint32_t buffer, uint64_t offset = 0, int64_t loopStride = 0, uint64_t rankStride = 0,
                      Axes axes = kShard) {
  return {offset, loopStride, rankStride, buffer,
          rankStride == 0 ? fb::Axes() : fb::Axes(axes.first, axes.end)};
}

/// Shape of the groups along axes of a plan under construction.
RankGroupShape shapeOf(const fb::PlanT &plan, const fb::Axes &axes);

/// An operand of a library call.
inline std::unique_ptr<fb::Operand> some(fb::Operand operand) {
  return std::make_unique<fb::Operand>(operand);
}

/// A product of one m x k and one k x n matrix without gaps and operands.
fb::MatrixProductT denseProduct(uint64_t m, uint64_t n, uint64_t k, bool transposeA = false,
                                bool transposeB = false);

/// The bytes of a plan file in memory, aligned to 64 bytes.
class PlanBytes {
public:
  explicit PlanBytes(const std::vector<uint8_t> &payload);

  std::span<std::byte> file() { return {aligned(), size_}; }
  std::span<std::byte> payload() { return file().subspan(sizeof(PlanFileHeader)); }
  PlanFileHeader &header() { return *reinterpret_cast<PlanFileHeader *>(aligned()); }
  /// Recomputes the payload's checksum (not that of the code).
  void seal();
  /// readPlan() of the bytes.
  Result<const fb::Plan *> read();

private:
  std::byte *aligned();

  std::vector<std::byte> storage_;
  size_t size_;
};

/// A plan that uses every kind of instruction, entry and table: init, begin_step, micro_step, update, eval,
/// prefill and decode over a weight "w" of 16 x 256, with columns "tokens" (4 integers below 16).
PlanBuilder fullPlan();

/// Elements of the whole tensors of ranksPlan(); their shards are aligned to 64 bytes with 1, 2, 3, 4 or 6
/// ranks.
inline constexpr uint64_t kWhole = 192;

/// A plan of `ranks` ranks in shard groups of `shardRanks` (at least 2), with collectives concurrent with
/// kernels. Each rank has its shards of w0 and w1 (states "a" [100] and "b" [80] in w0, "w1" [192]) and of
/// the sums h0 and h1. micro_step, with W0 and W1 gathered:
///
///   X = 2 W0, Y = X + W1, G1 = 2 Y, G0 = X + Y, h0 = shard of G0's sum, h1 = shard of G1's sum over all
///   ranks,
///   norm = the sum of all elements of all ranks' Y, w1 = shard of norm W1
///
/// and update, in one collective: u, whole on each rank, is gathered in place from all ranks' w1, and d, two
/// integers of each rank, from their c.
PlanBuilder ranksPlan(uint32_t ranks, uint32_t shardRanks);

/// The same, whose update ends with a reduce-scatter of zeros, "low" in bf16, into each rank's part of "wide"
/// in f32.
PlanBuilder wideningPlan(uint32_t ranks, uint32_t shardRanks);

/// A plan whose values go to the host and to disk and come back, while kernels run: init makes
///
///   x = 1 / w, kept on the host and stored on disk, then in place x = 1 / x; w = kept + stored
PlanBuilder spacesPlan();

/// Library calls over a state "x" of 6 x 16 and weights: products with each epilogue and side sum, with gaps,
/// with a workspace, in a loop over batches, and attention with its gradient.
PlanBuilder libraryPlan();

/// `ranks` ranks of one shard group that run a loop: slices of x go through a value in place, and a sum that
/// is carried from one iteration to the next, to slices of y. Each rank then takes its part of y. There is no
/// code for its kernels.
PlanBuilder loopsPlan(uint32_t ranks);

} // namespace trainc::test
