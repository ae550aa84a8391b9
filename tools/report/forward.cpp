#include "tools/report/forward.h"

#include "plan/facts/uses.h"

#include <algorithm>
#include <set>

namespace trainc::report {

namespace {

/// Walks backward through an entry and tracks the buffers that the loss depends on at that point. Buffers
/// suffice, because a buffer of a scratch arena holds one value.
class ForwardSearch {
public:
  ForwardSearch(const fb::Plan &plan, const std::vector<Moment> &moments)
      : plan_(plan), moments_(moments), isForward_(moments.size()) {
    for (const fb::Scalar *scalar : *plan.scalars())
      if (scalar->direction() == fb::Direction::FromDevice && view(scalar->name()) == "loss")
        needed_.insert(scalar->buffer());
  }

  std::vector<bool> run() && {
    for (size_t end = moments_.size(); end > 0;) {
      const size_t begin = loopBegin(end - 1);
      // An iteration may depend on the previous one: repeat until nothing is added.
      while (visit(begin, end) && moments_[begin].inLoop)
        ;
      end = begin;
    }
    return std::move(isForward_);
  }

private:
  size_t loopBegin(size_t moment) const {
    return moment - (moments_[moment].inLoop ? moments_[moment].inner : 0);
  }

  /// Returns whether a buffer was added.
  bool visit(size_t begin, size_t end) {
    const size_t before = needed_.size();
    for (size_t moment = end; moment-- > begin;)
      if (writesNeeded(moment)) {
        isForward_[moment] = true;
        forEach(moment, [&](uint32_t buffer, bool reads, bool) {
          if (reads)
            needed_.insert(buffer);
        });
      }
    return needed_.size() > before;
  }

  bool writesNeeded(size_t moment) const {
    bool found = false;
    forEach(moment, [&](uint32_t buffer, bool, bool writes) { found |= writes && needed_.contains(buffer); });
    return found;
  }

  template <typename Visitor> void forEach(size_t moment, Visitor visit) const {
    facts::forEachUse(plan_, *moments_[moment].instruction, moments_[moment].iterations,
                      [&](const facts::Use &use) {
                        if (!use.isWorkspace)
                          visit(use.range.operand->buffer(), use.reads, use.writes);
                      });
  }

  const fb::Plan &plan_;
  const std::vector<Moment> &moments_;
  std::vector<bool> isForward_;
  std::set<uint32_t> needed_;
};

} // namespace

std::vector<bool> forwardOf(const fb::Plan &plan, const std::vector<Moment> &moments) {
  return ForwardSearch(plan, moments).run();
}

} // namespace trainc::report
