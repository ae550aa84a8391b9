#include "base/json_text.h"
#include "base/plain_text.h"
#include "plan/facts/dtype.h"
#include "plan/facts/scalars.h"
#include "plan/facts/schedules.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <cmath>
#include <optional>
#include <set>

namespace trainc::verify {

namespace {

/// Returns the scalar named `name`; nothing if there is none.
std::optional<fb::HostScalar> findScalar(std::string_view name) {
  for (const fb::HostScalar each : fb::EnumValuesHostScalar())
    if (wordOf(each) == name)
      return each;
  return std::nullopt;
}

Status scalar(const fb::Plan &plan, const fb::Scalar &scalar) {
  TRAINC_RETURN_IF_ERROR(name(view(scalar.name()), "a scalar"));
  const std::string what = fmt::format("scalar '{}'", view(scalar.name()));
  const std::optional<fb::HostScalar> known = findScalar(view(scalar.name()));
  if (!known)
    return invalidInput("{}: expected a scalar that this program knows; it may be newer", what);
  const ScalarTraits traits = kScalarTraits[static_cast<size_t>(*known)];
  if (scalar.dtype() != traits.dtype || scalar.direction() != traits.direction)
    return invalidInput("{}: expected {} {} the device, found another dtype or direction", what,
                        dtypeName(traits.dtype), traits.direction == fb::Direction::ToDevice ? "to" : "from");
  const uint64_t count =
      *known == fb::HostScalar::Position && plan.generation() ? plan.generation()->batch() : 1;
  if (scalar.count() != count)
    return invalidInput("{}: expected {} elements, found {}", what, count, scalar.count());
  TRAINC_RETURN_IF_ERROR(tensorBuffer(plan, scalar.buffer(), scalar.dtype(), count, what));
  const fb::Role role = plan.buffers()->Get(scalar.buffer())->role();
  if (role == fb::Role::Parameter || role == fb::Role::Optimizer || role == fb::Role::Input)
    return invalidInput(
        "{}: expected a buffer that holds no state and no batch column, found one with the role {}", what,
        wordOf(role));
  return persistent(plan, scalar.buffer(), what);
}

Status scalars(const fb::Plan &plan) {
  std::set<std::string_view> found;
  std::set<uint32_t> buffers;
  for (const fb::Scalar *each : *plan.scalars()) {
    TRAINC_RETURN_IF_ERROR(scalar(plan, *each));
    if (!buffers.insert(each->buffer()).second)
      return invalidInput("scalar '{}': expected a buffer of its own, found that of another scalar",
                          view(each->name()));
    if (!found.insert(view(each->name())).second)
      return invalidInput("scalar '{}': expected it once, found it twice", view(each->name()));
  }
  for (const fb::HostScalar needed : {fb::HostScalar::Lr, fb::HostScalar::Loss, fb::HostScalar::Finite})
    if (plan.training() && !found.contains(wordOf(needed)))
      return invalidInput("expected scalar '{}' in a plan that trains, found none of this name",
                          wordOf(needed));
  if (plan.generation() && !found.contains("position"))
    return invalidInput("expected scalar 'position' in a plan that generates, found none of this name");
  if (plan.generation() && plan.generation()->batch() > 1 && !found.contains("slot"))
    return invalidInput(
        "expected scalar 'slot' in a plan that generates several texts at once, found none of this name");
  if (plan.training() && plan.training()->eval_batch() != 0 &&
      (!found.contains("eval_loss") || !found.contains("eval_targets")))
    return invalidInput(
        "expected scalars 'eval_loss' and 'eval_targets' in a plan that evaluates, found one missing");
  if (plan.training() && plan.training()->schedule() && plan.training()->schedule()->skipped_advance() &&
      !found.contains("overflow"))
    return invalidInput(
        "schedule: expected scalar 'overflow' where skipped steps move it, found none of this name");
  return {};
}

Status between(std::string_view what, uint64_t value, uint64_t minimum, uint64_t maximum) {
  if (value < minimum || value > maximum)
    return invalidInput("{}: expected {} to {}, found {}", what, minimum, maximum, value);
  return {};
}

Status training(const fb::Training &training) {
  constexpr uint64_t many = uint64_t{1} << 40;
  TRAINC_RETURN_IF_ERROR(between("training, micro_batch", training.micro_batch(), 1, uint64_t{1} << 20));
  TRAINC_RETURN_IF_ERROR(between("training, accumulate", training.accumulate(), 1, uint64_t{1} << 16));
  TRAINC_RETURN_IF_ERROR(between("training, seq_len", training.seq_len(), 0, uint64_t{1} << 31));
  TRAINC_RETURN_IF_ERROR(between("training, eval_batch", training.eval_batch(), 0, uint64_t{1} << 20));
  TRAINC_RETURN_IF_ERROR(between("training, steps", training.steps(), 0, many));
  const fb::Schedule *schedule = training.schedule();
  if (!schedule)
    return invalidInput("training: expected a learning-rate schedule, found none");
  TRAINC_RETURN_IF_ERROR(between("schedule, total", schedule->total(), 0, many));
  if (schedule->kind() > fb::ScheduleKind::MAX)
    return invalidInput("schedule: unknown kind {}", static_cast<int>(schedule->kind()));
  if (const double peak = schedule->peak(); !(std::isfinite(peak) && peak >= 0))
    return invalidInput("schedule: expected a finite rate of at least 0, found {}", peak);
  const ScheduleFormula &formula = formulaOf(schedule->kind());
  const size_t numbers = schedule->numbers() ? schedule->numbers()->size() : 0;
  if (numbers != formula.numbers.size())
    return invalidInput("schedule: expected {} numbers for {}, found {}", formula.numbers.size(),
                        formula.name, numbers);
  for (size_t i = 0; i < numbers; ++i)
    if (const std::string_view expected =
            expectedOf(formula.numbers[i].range, schedule->numbers()->Get(static_cast<unsigned>(i)));
        !expected.empty())
      return invalidInput("schedule, {}: expected {}, found {}", formula.numbers[i].word, expected,
                          schedule->numbers()->Get(static_cast<unsigned>(i)));
  return {};
}

Status generation(const fb::Plan &plan, const fb::Generation &generation) {
  TRAINC_RETURN_IF_ERROR(between("generation, context", generation.context(), 1, uint64_t{1} << 31));
  TRAINC_RETURN_IF_ERROR(between("generation, vocabulary", generation.vocabulary(), 1, uint64_t{1} << 31));
  TRAINC_RETURN_IF_ERROR(between("generation, batch", generation.batch(), 1, uint64_t{1} << 20));
  TRAINC_RETURN_IF_ERROR(tensorBuffer(plan, generation.logits(), fb::DType::F32,
                                      generation.batch() * generation.vocabulary(), "generation, logits"));
  return persistent(plan, generation.logits(), "generation, logits");
}

Status exports(const flatbuffers::Vector<flatbuffers::Offset<fb::Export>> &exports) {
  std::set<std::string_view> files;
  for (const fb::Export *each : exports) {
    const std::string_view file = view(each->file());
    TRAINC_RETURN_IF_ERROR(name(file, "an exported file"));
    if (file.find('/') != file.npos || file.front() == '.' || !files.insert(file).second)
      return invalidInput("export '{}': expected a plain file name of its own", file);
    if (!isUtf8(view(each->text())))
      return invalidInput("export '{}': expected UTF-8 text", file);
  }
  return {};
}

} // namespace

Status interface(const fb::Plan &plan) {
  if (plan.training())
    TRAINC_RETURN_IF_ERROR(training(*plan.training()));
  if (plan.generation())
    TRAINC_RETURN_IF_ERROR(generation(plan, *plan.generation()));
  if (plan.exports())
    TRAINC_RETURN_IF_ERROR(exports(*plan.exports()));
  if (plan.report() && !isUtf8(view(plan.report())))
    return invalidInput("the compile report: expected UTF-8 text");
  if (plan.report() && plan.report()->size() > 0 && !tryParseJson(view(plan.report())).is_object())
    return invalidInput("the compile report: expected a JSON object");
  return scalars(plan);
}

} // namespace trainc::verify
