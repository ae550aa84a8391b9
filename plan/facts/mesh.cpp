#include "plan/facts/mesh.h"

#include "plan/facts/view.h"

#include <algorithm>

namespace trainc {

namespace {

template <typename SizeAt> RankGroupShape shapeWithin(uint32_t count, SizeAt sizeAt, Axes axes) {
  RankGroupShape shape;
  for (uint32_t i = 0; i < count; ++i) {
    shape.all *= sizeAt(i);
    shape.members *= i >= axes.first && i < axes.end ? sizeAt(i) : 1;
    shape.stride *= i >= axes.end ? sizeAt(i) : 1;
  }
  return shape;
}

bool isWord(std::string_view name) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && name.size() < 32 && std::ranges::all_of(name, isLetter);
}

} // namespace

Mesh::Mesh(const fb::Plan &plan) {
  if (plan.mesh())
    for (const fb::Axis *axis : *plan.mesh())
      axes_.push_back({std::string(view(axis->name())), axis->size()});
}

uint32_t Mesh::ranks() const { return shapeOf(kAllAxes).all; }

std::optional<uint8_t> Mesh::find(std::string_view name) const {
  const auto found = std::ranges::find(axes_, name, &Axis::name);
  if (found == axes_.end())
    return std::nullopt;
  return static_cast<uint8_t>(found - axes_.begin());
}

RankGroupShape Mesh::shapeOf(Axes axes) const {
  return shapeWithin(static_cast<uint32_t>(axes_.size()), [this](uint32_t i) { return axes_[i].size; }, axes);
}

Members Mesh::members(Axes axes, uint32_t rank) const {
  const RankGroupShape shape = shapeOf(axes);
  return {rank - shape.placeOf(rank) * shape.stride, shape.stride, shape.members};
}

std::string Mesh::textOf(Axes axes) const {
  std::string text;
  for (size_t i = axes.first; i < std::min<size_t>(axes.end, axes_.size()); ++i)
    text += (text.empty() ? "" : " x ") + axes_[i].name;
  return text;
}

std::string Mesh::text() const {
  std::string text;
  for (const Axis &axis : axes_)
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.size);
  return text.empty() ? "1 rank" : text;
}

size_t Mesh::choiceOf(Axes axes) const {
  const size_t end = std::min<size_t>(axes.end, std::max<size_t>(axes_.size(), 1));
  return end * (end - 1) / 2 + axes.first;
}

uint32_t Mesh::groups() const {
  uint32_t groups = 0;
  const auto count = static_cast<uint8_t>(std::max<size_t>(axes_.size(), 1));
  for (uint8_t end = 1; end <= count; ++end)
    for (uint8_t first = 0; first < end; ++first)
      groups += shapeOf({first, end}).groups();
  return groups;
}

uint32_t Mesh::groupOf(Axes axes, uint32_t rank) const {
  const size_t choice = choiceOf(axes);
  uint32_t before = 0;
  const auto count = static_cast<uint8_t>(std::max<size_t>(axes_.size(), 1));
  for (uint8_t end = 1; end <= count; ++end)
    for (uint8_t first = 0; first < end; ++first)
      if (choiceOf({first, end}) < choice)
        before += shapeOf({first, end}).groups();
  return before + shapeOf(axes).groupOf(rank);
}

RankGroupShape shapeOf(const fb::Plan &plan, Axes axes) {
  return shapeWithin(
      plan.mesh() ? plan.mesh()->size() : 0, [&plan](uint32_t i) { return plan.mesh()->Get(i)->size(); },
      axes);
}

Status checkMesh(const Mesh &mesh) {
  if (mesh.axes().size() > kMaxAxes)
    return invalidInput("mesh: expected at most {} axes, found {}", kMaxAxes, mesh.axes().size());
  uint64_t ranks = 1;
  for (const Axis &axis : mesh.axes()) {
    if (!isWord(axis.name))
      return invalidInput("mesh: expected axes named by 1 to 31 small letters, found {}",
                          axis.name.empty() ? "one without a name" : "another name");
    if (std::ranges::count(mesh.axes(), axis.name, &Axis::name) > 1)
      return invalidInput("mesh: expected axis '{}' once, found it twice", axis.name);
    if (axis.size == 0 || axis.size > kMaxRanks)
      return invalidInput("mesh: expected 1 to {} ranks along axis '{}', found {}", kMaxRanks, axis.name,
                          axis.size);
    ranks *= axis.size;
    if (ranks > kMaxRanks)
      return invalidInput("mesh: expected at most {} ranks, found {}", kMaxRanks, mesh.text());
  }
  return {};
}

} // namespace trainc
