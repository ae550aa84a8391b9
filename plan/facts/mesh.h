// The mesh of ranks: its named axes, and the groups of ranks along them.
#pragma once

#include "base/status.h"
#include "plan/cost/collective_seconds.h"
#include "plan/schema/limits.h"
#include "plan/schema/plan_generated.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Adjacent axes [first, end) of a mesh; see fb::Axes.
struct Axes {
  uint8_t first = 0, end = 0;

  bool isEmpty() const { return first >= end; }
  auto operator<=>(const Axes &) const = default;
};

/// All axes of any mesh.
inline constexpr Axes kAllAxes{0, kMaxAxes};

inline Axes axesOf(const fb::Axes &axes) { return {axes.first(), axes.end()}; }

/// A group of `count` ranks: `first`, `first + stride`, and so on. A place is a rank's index within the
/// group.
struct Members {
  uint32_t first, stride, count;

  uint32_t rankAt(uint32_t place) const { return first + place * stride; }
  uint32_t placeOf(uint32_t rank) const { return (rank - first) / stride; }
};

/// A named axis.
struct Axis {
  std::string name;
  uint32_t size = 1;
};

/// Ranks in row-major order: the place along the last axis changes fastest.
class Mesh {
public:
  Mesh() = default; ///< one rank
  explicit Mesh(std::vector<Axis> axes) : axes_(std::move(axes)) {}
  explicit Mesh(const fb::Plan &plan);

  const std::vector<Axis> &axes() const { return axes_; }
  uint32_t ranks() const;
  /// Index of the axis of that name; none if there is none.
  std::optional<uint8_t> find(std::string_view name) const;
  /// Shape of the groups along the axes; those after the last one are ignored.
  RankGroupShape shapeOf(Axes axes) const;
  /// The group along the axes that contains `rank`.
  Members members(Axes axes, uint32_t rank) const;
  /// "shard", "replica x shard"; empty for no axes.
  std::string textOf(Axes axes) const;
  /// "replica 2 x shard 4"; "1 rank".
  std::string text() const;

  /// Number of distinct groups along all choices of adjacent axes.
  uint32_t groups() const;
  /// Index, below groups(), of the group along the axes that contains the rank.
  uint32_t groupOf(Axes axes, uint32_t rank) const;
  /// Index of the choice of axes, below kMaxChoices.
  size_t choiceOf(Axes axes) const;
  static constexpr size_t kMaxChoices = size_t{kMaxAxes} * (kMaxAxes + 1) / 2;

private:
  std::vector<Axis> axes_;
};

/// Shape of the groups along the axes, without a Mesh.
RankGroupShape shapeOf(const fb::Plan &plan, Axes axes);

/// Fails with kInvalidInput if there are too many axes or ranks, an axis without ranks, two axes of one name,
/// or a name that is not a word.
Status checkMesh(const Mesh &mesh);

} // namespace trainc
