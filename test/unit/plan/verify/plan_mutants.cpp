#include "test/unit/plan/verify/plan_mutants.h"
#include "plan/schema/enum_words.h"

#include "test/unit/plan/verify/entry_model.h"

#include <fmt/format.h>
#include <map>
#include <optional>

namespace trainc::test {

namespace {

class Maker {
public:
  explicit Maker(const fb::PlanT &plan) : plan_(plan) {}

  std::vector<Mutant> make() {
    for (size_t entry = 0; entry < plan_.entries.size(); ++entry) {
      const EntryModel model(plan_, *plan_.entries[entry]);
      for (size_t i = 0; i < plan_.entries[entry]->instructions.size(); ++i) {
        changeOrder(entry, i);
        lengthen(model, entry, i);
        if (const fb::CollectiveT *collective = instruction(entry, i).operation.AsCollective())
          changeRanges(model, entry, i, *collective);
        for (size_t j = i + 1; j < plan_.entries[entry]->instructions.size(); ++j)
          swap(model, entry, i, j);
      }
      overlapScratch(model);
    }
    overlapPersistent();
    return std::move(mutants_);
  }

private:
  const fb::InstructionT &instruction(size_t entry, size_t i) const {
    return *plan_.entries[entry]->instructions[i];
  }
  void add(const char *kind, size_t entry, const std::string &what, std::function<void(fb::PlanT &)> apply) {
    mutants_.push_back(
        {kind, fmt::format("entry {}: {} {}", plan_.entries[entry]->name, kind, what), std::move(apply)});
  }

  /// Faults in an instruction's dependencies and stream.
  void changeOrder(size_t entry, size_t i) {
    const std::vector<uint32_t> &after = instruction(entry, i).after;
    for (size_t e = 0; e < after.size(); ++e) {
      const std::string what = fmt::format("{} after {}", i, after[e]);
      add("drop", entry, what, [=](fb::PlanT &plan) {
        auto &edges = plan.entries[entry]->instructions[i]->after;
        edges.erase(edges.begin() + static_cast<ptrdiff_t>(e));
      });
      if (const std::optional<uint32_t> before = previousOnStream(entry, after[e]))
        add("early", entry, what,
            [=](fb::PlanT &plan) { plan.entries[entry]->instructions[i]->after[e] = *before; });
    }
    for (const fb::Stream stream : fb::EnumValuesStream())
      if (stream != instruction(entry, i).stream)
        add("stream", entry, fmt::format("{} on {}", i, wordOf(stream)),
            [=](fb::PlanT &plan) { plan.entries[entry]->instructions[i]->stream = stream; });
  }

  std::optional<uint32_t> previousOnStream(size_t entry, uint32_t index) const {
    for (uint32_t i = index; i-- > 0;)
      if (instruction(entry, i).stream == instruction(entry, index).stream)
        return i;
    return std::nullopt;
  }

  void lengthen(const EntryModel &model, size_t entry, size_t i) {
    constexpr uint64_t more = 4;
    const fb::Operation type = instruction(entry, i).operation.type;
    if (type != fb::Operation::Copy && type != fb::Operation::Zero)
      return;
    if (const fb::ZeroT *zero = instruction(entry, i).operation.AsZero(); zero && model.isPadded(*zero, more))
      return;
    add("lengthen", entry, std::to_string(i), [=](fb::PlanT &plan) {
      auto &operation = plan.entries[entry]->instructions[i]->operation;
      if (fb::CopyT *copy = operation.AsCopy())
        copy->bytes += more;
      else
        operation.AsZero()->bytes += more;
    });
  }

  void changeRanges(const EntryModel &model, size_t entry, size_t i, const fb::CollectiveT &collective) {
    const auto rangesOf = [=](fb::PlanT &plan) -> auto & {
      return plan.entries[entry]->instructions[i]->operation.AsCollective()->ranges;
    };
    for (size_t r = 0; r < collective.ranges.size(); ++r) {
      const std::string what = fmt::format("range {} of {}", r, i);
      add("lengthen", entry, what, [=](fb::PlanT &plan) {
        rangesOf(plan)[r]->elements += plan.ranks; // a multiple of any group
      });
      add("widen", entry, what, [=](fb::PlanT &plan) { rangesOf(plan)[r]->widens ^= true; });
      if (collective.ranges[r]->sum_kernel)
        changeSum(entry, i, r);
      if (collective.ranges.size() > 1 && model.isMissed(i, *collective.ranges[r]))
        add("drop", entry, what, [=](fb::PlanT &plan) {
          rangesOf(plan).erase(rangesOf(plan).begin() + static_cast<ptrdiff_t>(r));
        });
      for (size_t s = r + 1; s < collective.ranges.size(); ++s)
        if (!model.fitElsewhere(collective, *collective.ranges[r], *collective.ranges[s]))
          add("swap", entry, fmt::format("destinations of ranges {} and {} of {}", r, s, i),
              [=](fb::PlanT &plan) {
                std::swap(rangesOf(plan)[r]->destination, rangesOf(plan)[s]->destination);
              });
    }
  }

  /// Faults in a sum by a kernel.
  void changeSum(size_t entry, size_t i, size_t r) {
    const auto change = [&](const char *how, std::function<void(fb::RangeT &)> apply) {
      add("sum", entry, fmt::format("of range {} of {}: {}", r, i, how), [=](fb::PlanT &plan) {
        apply(*plan.entries[entry]->instructions[i]->operation.AsCollective()->ranges[r]);
      });
    };
    change("no kernel", [](fb::RangeT &range) { range.sum_kernel = flatbuffers::nullopt; });
    change("no workspace", [](fb::RangeT &range) { range.workspace = nullptr; });
    change("a short workspace", [](fb::RangeT &range) { range.workspace_bytes = 63; });
    for (uint32_t kernel = 0; kernel < plan_.kernels.size(); ++kernel)
      if (kernel != plan_.entries[entry]->instructions[i]->operation.AsCollective()->ranges[r]->sum_kernel)
        change("another kernel", [=](fb::RangeT &range) { range.sum_kernel = kernel; });
  }

  /// Dependencies stay with the positions.
  void swap(const EntryModel &model, size_t entry, size_t i, size_t j) {
    if (model.feeds(i, j))
      add("swap", entry, fmt::format("{} and {}", i, j), [=](fb::PlanT &plan) {
        auto &body = plan.entries[entry]->instructions;
        std::swap(body[i], body[j]);
        std::swap(body[i]->after, body[j]->after);
      });
  }

  /// Moves the smaller buffer to where the larger is in their arena.
  void overlap(uint32_t a, uint32_t b) {
    if (plan_.buffers[a]->bytes > plan_.buffers[b]->bytes)
      std::swap(a, b);
    if (plan_.buffers[a]->bytes > 0 && plan_.buffers[a]->arena == plan_.buffers[b]->arena)
      mutants_.push_back(
          {"overlap", fmt::format("overlap '{}' with '{}'", plan_.buffers[a]->name, plan_.buffers[b]->name),
           [=](fb::PlanT &plan) { plan.buffers[a]->offset = plan.buffers[b]->offset; }});
  }

  void overlapScratch(const EntryModel &model) {
    const std::map<uint32_t, Timeline> timelines = model.timelines();
    for (auto a = timelines.begin(); a != timelines.end(); ++a)
      for (auto b = std::next(a); b != timelines.end(); ++b)
        if (destroys(a->second, b->second) || destroys(b->second, a->second))
          overlap(a->first, b->first);
  }

  void overlapPersistent() {
    std::vector<uint32_t> buffers;
    for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.arenas[plan_.buffers[i]->arena]->persistent)
        buffers.push_back(i);
    for (size_t i = 0; i < buffers.size(); ++i)
      for (size_t j = i + 1; j < buffers.size(); ++j)
        overlap(buffers[i], buffers[j]);
  }

  const fb::PlanT &plan_;
  std::vector<Mutant> mutants_;
};

} // namespace

std::vector<Mutant> mutants(const fb::PlanT &plan) { return Maker(plan).make(); }

} // namespace trainc::test
