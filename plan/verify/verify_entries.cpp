#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "plan/facts/dtype.h"
#include "plan/schema/entry_names.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <set>

namespace trainc::verify {

namespace {

bool isInteger(fb::DType dtype) {
  using enum fb::DType;
  return dtype == I32 || dtype == I64 || dtype == U8 || dtype == U32 || dtype == U64;
}

/// Expected leading dimension of a column in samples; 0 if the plan does not define it.
uint64_t leadingDimension(const fb::Plan &plan, std::string_view entry, fb::BatchExtent extent) {
  if (entry == kPrefillEntry || entry == kDecodeEntry)
    return 1;
  const fb::Training *training = plan.training();
  if (!training || entry == kInitEntry)
    return 0;
  if (entry == kEvalEntry)
    return training->eval_batch();
  return training->micro_batch() * (extent == fb::BatchExtent::Step ? training->accumulate() : 1);
}

Status input(const fb::Plan &plan, std::string_view entry, const fb::Input &input) {
  TRAINC_RETURN_IF_ERROR(name(view(input.column()), fmt::format("an input of entry {}", entry)));
  const std::string what = fmt::format("entry {}, input '{}'", entry, view(input.column()));
  if (input.extent() > fb::BatchExtent::MAX)
    return invalidInput("{}: unknown extent {}", what, static_cast<int>(input.extent()));
  TRAINC_RETURN_IF_ERROR(tensorBuffer(plan, input.buffer(), input.dtype(), elements(*input.shape()), what));
  const fb::Buffer &buffer = *plan.buffers()->Get(input.buffer());
  if (buffer.role() != fb::Role::Input || plan.arenas()->Get(buffer.arena())->space() != fb::Space::Device)
    return invalidInput("{}: expected a buffer of the device with the role input, found {} in {}", what,
                        wordOf(buffer.role()), wordOf(plan.arenas()->Get(buffer.arena())->space()));
  // Must be persistent: the host fills it while copies of the previous entry may still read scratch memory.
  TRAINC_RETURN_IF_ERROR(persistent(plan, input.buffer(), what));
  const uint64_t samples = leadingDimension(plan, entry, input.extent());
  if (input.shape()->size() == 0 || input.shape()->Get(0) != samples)
    return invalidInput("{}: expected a leading dimension of {} samples, found {}", what, samples,
                        input.shape()->size() == 0 ? 0 : input.shape()->Get(0));
  if (input.pads() && !isInteger(input.dtype()))
    return invalidInput("{}: expected integers to fill up a batch with, found {}", what,
                        dtypeName(input.dtype()));
  if (input.limit() != 0 && !isInteger(input.dtype()))
    return invalidInput("{}: expected no limit for {}, found {}", what, dtypeName(input.dtype()),
                        input.limit());
  return {};
}

/// Checks that two columns of an entry have different buffers: buffers of persistent arenas are disjoint.
Status apart(const fb::Entry &entry, const fb::Input &a, const fb::Input &b) {
  if (a.buffer() != b.buffer())
    return {};
  return invalidInput("entry {}, inputs '{}' and '{}': expected bytes of their own, found some shared",
                      view(entry.name()), view(a.column()), view(b.column()));
}

Status inputs(const fb::Plan &plan, const fb::Entry &entry) {
  std::set<std::string_view> columns;
  if (!entry.inputs())
    return {};
  for (const fb::Input *each : *entry.inputs()) {
    TRAINC_RETURN_IF_ERROR(input(plan, view(entry.name()), *each));
    if (!columns.insert(view(each->column())).second)
      return invalidInput("entry {}: expected input '{}' once, found it twice", view(entry.name()),
                          view(each->column()));
    for (uint32_t other = 0; entry.inputs()->Get(other) != each; ++other)
      TRAINC_RETURN_IF_ERROR(apart(entry, *entry.inputs()->Get(other), *each));
  }
  return {};
}

/// Checks that a step has exactly one update: in micro_step, in last_micro_step or in update.
Status endOfStep(uint64_t accumulate, const std::set<std::string_view> &found) {
  const bool last = found.contains(kLastMicroStepEntry), update = found.contains(kUpdateEntry);
  if (accumulate > 1 && !last && !update)
    return invalidInput(
        "expected entry 'update' or 'last_micro_step' where {} micro-batches are accumulated, found neither",
        accumulate);
  if (last && (update || accumulate == 1))
    return invalidInput("entry 'last_micro_step': expected it where micro-batches are accumulated and no "
                        "entry 'update' follows, found {}",
                        update ? "both" : "nothing to accumulate");
  return {};
}

Status required(const fb::Plan &plan, const std::set<std::string_view> &found) {
  std::vector<std::string_view> needed;
  if (plan.training()) {
    needed = {kInitEntry, kMicroStepEntry};
    TRAINC_RETURN_IF_ERROR(endOfStep(plan.training()->accumulate(), found));
    if (plan.training()->eval_batch() != 0)
      needed.push_back(kEvalEntry);
  }
  if (plan.generation())
    needed.insert(needed.end(), {kPrefillEntry, kDecodeEntry});
  for (const std::string_view entry : needed)
    if (!found.contains(entry))
      return invalidInput("expected entry '{}', found none of this name", entry);
  return {};
}

} // namespace

Status entries(const fb::Plan &plan) {
  std::set<std::string_view> found;
  for (const fb::Entry *entry : *plan.entries()) {
    const std::string_view name = view(entry->name());
    if (std::ranges::find(kEntryNames, name) == kEntryNames.end())
      return invalidInput("entry: {}",
                          describeUnknownWord(printable(name), {kEntryNames.begin(), kEntryNames.end()}));
    if (!found.insert(name).second)
      return invalidInput("entry '{}': expected it once, found it twice", name);
    TRAINC_RETURN_IF_ERROR(inputs(plan, *entry));
  }
  return required(plan, found);
}

} // namespace trainc::verify
