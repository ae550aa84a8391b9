#include "tools/report/moments.h"

#include "tools/report/stream_order.h"

#include <fmt/format.h>

namespace trainc::report {

namespace {

/// Adds the body's moments, each with its share of the loop's time.
void addLoop(const fb::Loop &loop, Moment moment, std::vector<Moment> &moments) {
  const TaskSpan span{moment.begin, moment.end};
  double sum = 0;
  for (const fb::Instruction *inner : *loop.body())
    sum += static_cast<double>(inner->predicted_seconds());
  double past = 0;
  for (uint32_t i = 0; i < loop.body()->size(); ++i) {
    moment.instruction = loop.body()->Get(i);
    moment.inner = i;
    moment.begin = span.begin + span.seconds() * past;
    past += sum > 0 ? static_cast<double>(moment.instruction->predicted_seconds()) / sum
                    : 1.0 / loop.body()->size();
    moment.end = i + 1 == loop.body()->size() ? span.end : span.begin + span.seconds() * past;
    moments.push_back(moment);
  }
}

} // namespace

std::string nameOf(const Moment &moment) {
  return moment.inLoop ? fmt::format("{}.{}", moment.index, moment.inner) : std::to_string(moment.index);
}

std::vector<Moment> momentsOf(const fb::Entry &entry, const Schedule &schedule) {
  std::vector<Moment> moments;
  std::vector<uint32_t> first; ///< by instruction: its first moment
  for (uint32_t i = 0; i < entry.instructions()->size(); ++i) {
    const fb::Instruction &instruction = *entry.instructions()->Get(i);
    first.push_back(static_cast<uint32_t>(moments.size()));
    Moment moment{.instruction = &instruction,
                  .index = i,
                  .begin = schedule.tasks[i].begin,
                  .end = schedule.tasks[i].end};
    if (const fb::Loop *loop = instruction.operation_as_Loop()) {
      moment.iterations = loop->count();
      moment.inLoop = true;
      addLoop(*loop, moment, moments);
    } else {
      moments.push_back(moment);
    }
  }
  first.push_back(static_cast<uint32_t>(moments.size()));
  const std::vector<uint32_t> joined = orderOf(entry).joined;
  for (uint32_t i = 0; i < moments.size(); ++i)
    moments[i].doneBefore =
        moments[i].instruction->stream() == fb::Stream::Compute ? i + 1 : first[joined[moments[i].index]];
  return moments;
}

} // namespace trainc::report
