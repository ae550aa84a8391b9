#include "tools/cases/run.h"

#include "base/float8.h"
#include "base/small_float.h"
#include "plan/facts/dtype.h"
#include "plan/facts/target.h"
#include "plan/schema/entry_names.h"
#include "runtime/device/device_kinds.h"
#include "runtime/exec/executor.h"

#include <algorithm>
#include <cstring>

namespace trainc::cases {

namespace {

template <typename Element> void appendNumbers(std::span<const std::byte> bytes, std::vector<double> &to) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + at, sizeof(Element));
    to.push_back(static_cast<double>(element));
  }
}

std::vector<double> numbersOf(fb::DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> numbers;
  numbers.reserve(bytes.size() / elementBytes(dtype));
  switch (dtype) {
  case fb::DType::F32:
    appendNumbers<float>(bytes, numbers);
    break;
  case fb::DType::F64:
    appendNumbers<double>(bytes, numbers);
    break;
  case fb::DType::I32:
    appendNumbers<int32_t>(bytes, numbers);
    break;
  case fb::DType::I64:
    appendNumbers<int64_t>(bytes, numbers);
    break;
  case fb::DType::U8:
    appendNumbers<uint8_t>(bytes, numbers);
    break;
  case fb::DType::U32:
    appendNumbers<uint32_t>(bytes, numbers);
    break;
  case fb::DType::U64:
    appendNumbers<uint64_t>(bytes, numbers);
    break;
  case fb::DType::BF16:
    appendNumbers<BFloat16>(bytes, numbers);
    break;
  case fb::DType::F16:
    appendNumbers<Float16>(bytes, numbers);
    break;
  case fb::DType::F8E4M3:
    appendNumbers<Float8E4M3>(bytes, numbers);
    break;
  case fb::DType::F8E5M2:
    appendNumbers<Float8E5M2>(bytes, numbers);
    break;
  }
  return numbers;
}

/// States of a plan, by name.
class Run {
public:
  explicit Run(Executor &executor) : executor_(executor) {}

  /// Writes the arguments, and fills results with NaN, so that results that no kernel writes are detected.
  Status prepare(std::span<const Case> cases) {
    uint64_t maximum = 0;
    for (const StateView &state : executor_.states())
      maximum = std::max(maximum, state.memory.bytes);
    poison_.assign(maximum, std::byte{0xFF});
    for (const Case &each : cases) {
      for (size_t i = 0; i < each.arguments.size(); ++i) {
        TRAINC_ASSIGN_OR_RETURN(const StateView *state, find(stateName(each.name, Part::kArgument, i)));
        if (state->memory.bytes != each.arguments[i].size())
          return invalidInput("argument {} of case {}: expected the {} bytes of the plan, found {}", i,
                              each.name, state->memory.bytes, each.arguments[i].size());
        executor_.write(state->memory, each.arguments[i]);
      }
      for (size_t i = 0; i < each.results.size(); ++i) {
        TRAINC_ASSIGN_OR_RETURN(const StateView *state, find(stateName(each.name, Part::kResult, i)));
        executor_.write(state->memory, std::span(poison_).first(state->memory.bytes));
      }
    }
    return {};
  }

  Result<double> error(const Case &tested) {
    double largest = 0;
    for (size_t i = 0; i < tested.results.size(); ++i) {
      TRAINC_ASSIGN_OR_RETURN(const StateView *state, find(stateName(tested.name, Part::kResult, i)));
      std::vector<std::byte> bytes(state->memory.bytes);
      TRAINC_RETURN_IF_ERROR(executor_.read(bytes, state->memory));
      largest = std::max(largest, errorOf(numbersOf(state->info->dtype(), bytes), tested.results[i]));
    }
    return largest;
  }

private:
  Result<const StateView *> find(const std::string &name) const {
    const auto found = std::ranges::find_if(executor_.states(), [&](const StateView &state) {
      return state.info->name()->string_view() == name;
    });
    if (found == executor_.states().end())
      return invalidInput("expected a state '{}' in the plan, found none; are plan and cases of one run?",
                          name);
    return &*found;
  }

  Executor &executor_;
  std::vector<std::byte> poison_; ///< in flight to the device
};

} // namespace

Result<std::vector<double>> run(const fb::Plan &plan, Device &device, std::span<const Case> cases) {
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::create(plan, device));
  if (!executor->hasEntry(kEvalEntry))
    return invalidInput("expected a plan of cases, with the entry '{}', found none", kEvalEntry);
  Run run(*executor);
  TRAINC_RETURN_IF_ERROR(run.prepare(cases));
  TRAINC_RETURN_IF_ERROR(executor->run(kEvalEntry));
  std::vector<double> errors;
  for (const Case &each : cases) {
    TRAINC_ASSIGN_OR_RETURN(const double error, run.error(each));
    errors.push_back(error);
  }
  return errors;
}

Result<std::unique_ptr<Device>> openDeviceOf(const fb::Plan &plan) {
  TRAINC_ASSIGN_OR_RETURN(OpenedDevice opened, openDevice("auto", targetOf(plan), DevicePlace()));
  return std::move(opened.device);
}

} // namespace trainc::cases
