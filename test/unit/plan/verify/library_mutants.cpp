#include "test/unit/plan/verify/plan_mutants.h"

#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace trainc::test {

namespace {

using Find = std::function<fb::InstructionT &(fb::PlanT &)>;
template <typename T, typename Field> struct Named {
  const char *name;
  Field T::*field;
};

class LibraryMaker {
public:
  explicit LibraryMaker(const fb::PlanT &plan) : plan_(plan) {}

  std::vector<Mutant> make() {
    for (size_t entry = 0; entry < plan_.entries.size(); ++entry)
      for (size_t i = 0; i < plan_.entries[entry]->instructions.size(); ++i) {
        const fb::InstructionT &instruction = *plan_.entries[entry]->instructions[i];
        const std::string at = fmt::format("entry {}, instruction {}", plan_.entries[entry]->name, i);
        const Find find = [=](fb::PlanT &plan) -> auto & { return *plan.entries[entry]->instructions[i]; };
        change(at, instruction, find);
        if (const fb::LoopT *loop = instruction.operation.AsLoop())
          for (size_t inner = 0; inner < loop->body.size(); ++inner)
            change(fmt::format("{}.{}", at, inner), *loop->body[inner],
                   [=](fb::PlanT &plan) -> auto & { return *find(plan).operation.AsLoop()->body[inner]; });
      }
    return std::move(mutants_);
  }

private:
  void change(const std::string &at, const fb::InstructionT &instruction, const Find &find) {
    if (const fb::MatrixProductT *product = instruction.operation.AsMatrixProduct())
      change(at, *product,
             [=](fb::PlanT &plan) -> auto & { return *find(plan).operation.AsMatrixProduct(); });
    if (const fb::AttentionT *attention = instruction.operation.AsAttention())
      change(at, *attention, [=](fb::PlanT &plan) -> auto & { return *find(plan).operation.AsAttention(); });
  }

  template <typename FindCall>
  void change(const std::string &at, const fb::MatrixProductT &call, FindCall find) {
    using T = fb::MatrixProductT;
    const Named<T, uint64_t> sizes[] = {{"batch", &T::batch},
                                        {"m", &T::m},
                                        {"n", &T::n},
                                        {"k", &T::k},
                                        {"row_a", &T::row_a},
                                        {"row_b", &T::row_b},
                                        {"row_result", &T::row_result},
                                        {"matrix_a", &T::matrix_a},
                                        {"matrix_b", &T::matrix_b},
                                        {"matrix_result", &T::matrix_result},
                                        {"workspace_bytes", &T::workspace_bytes}};
    const Named<T, bool> flags[] = {
        {"transpose_a", &T::transpose_a}, {"transpose_b", &T::transpose_b}, {"adds", &T::adds}};
    const Named<T, std::unique_ptr<fb::Operand>> operands[] = {{"a", &T::a},
                                                               {"b", &T::b},
                                                               {"result", &T::result},
                                                               {"bias", &T::bias},
                                                               {"auxiliary", &T::auxiliary},
                                                               {"side", &T::side},
                                                               {"a_scale", &T::a_scale},
                                                               {"b_scale", &T::b_scale},
                                                               {"workspace", &T::workspace}};
    const Named<T, fb::DType> types[] = {
        {"factors", &T::factors}, {"product", &T::product}, {"sum", &T::sum}};
    changeAll(at, call, find, sizes, flags, operands, types);
    for (const fb::Activation activation : fb::EnumValuesActivation())
      if (activation != call.activation)
        add(at, fmt::format("activation {}", int(activation)),
            [=](fb::PlanT &plan) { find(plan).activation = activation; });
    for (const fb::SideSum sum : fb::EnumValuesSideSum())
      if (sum != call.side_sum)
        add(at, fmt::format("side sum {}", int(sum)), [=](fb::PlanT &plan) { find(plan).side_sum = sum; });
  }

  template <typename FindCall> void change(const std::string &at, const fb::AttentionT &call, FindCall find) {
    using T = fb::AttentionT;
    const Named<T, uint64_t> sizes[] = {{"batch", &T::batch},
                                        {"queries", &T::queries},
                                        {"keys", &T::keys},
                                        {"heads", &T::heads},
                                        {"key_heads", &T::key_heads},
                                        {"head_size", &T::head_size},
                                        {"value_size", &T::value_size},
                                        {"workspace_bytes", &T::workspace_bytes}};
    const Named<T, bool> flags[] = {{"causal", &T::causal}};
    const Named<T, std::unique_ptr<fb::Operand>> operands[] = {{"query", &T::query},
                                                               {"key", &T::key},
                                                               {"value", &T::value},
                                                               {"out", &T::out},
                                                               {"log_sum_exp", &T::log_sum_exp},
                                                               {"segments", &T::segments},
                                                               {"limit", &T::limit},
                                                               {"out_gradient", &T::out_gradient},
                                                               {"query_gradient", &T::query_gradient},
                                                               {"key_gradient", &T::key_gradient},
                                                               {"value_gradient", &T::value_gradient},
                                                               {"workspace", &T::workspace}};
    const Named<T, fb::DType> types[] = {{"values", &T::values}, {"sum", &T::sum}};
    changeAll(at, call, find, sizes, flags, operands, types);
    add(at, "the other pass", [=](fb::PlanT &plan) {
      auto &pass = find(plan).pass;
      pass = pass == fb::AttentionPass::Forward ? fb::AttentionPass::Backward : fb::AttentionPass::Forward;
    });
    add(at, "an infinite scale", [=](fb::PlanT &plan) { find(plan).scale = HUGE_VALF; });
  }

  template <typename Call, typename FindCall, typename Sizes, typename Flags, typename Operands,
            typename Types>
  void changeAll(const std::string &at, const Call &call, FindCall find, const Sizes &sizes,
                 const Flags &flags, const Operands &operands, const Types &types) {
    for (const auto &each : sizes)
      for (const uint64_t other : {call.*each.field + 1, call.*each.field - 1, 2 * call.*each.field,
                                   uint64_t{0}, uint64_t{1} << 60, (uint64_t{1} << 62) + call.*each.field})
        if (other != call.*each.field)
          add(at, fmt::format("{} {}", each.name, other),
              [=](fb::PlanT &plan) { find(plan).*each.field = other; });
    for (const auto &each : flags)
      add(at, fmt::format("{} the other way", each.name),
          [=](fb::PlanT &plan) { find(plan).*each.field = !(find(plan).*each.field); });
    for (const auto &each : operands)
      if (call.*each.field)
        add(at, fmt::format("no {}", each.name), [=](fb::PlanT &plan) { (find(plan).*each.field).reset(); });
      else if (call.*operands[0].field)
        add(at, fmt::format("a needless {}", each.name), [=](fb::PlanT &plan) {
          find(plan).*each.field = std::make_unique<fb::Operand>(*(find(plan).*operands[0].field));
        });
    for (const auto &each : types)
      for (const fb::DType other :
           {fb::DType::BF16, fb::DType::F64, fb::DType::F8E4M3, static_cast<fb::DType>(200)})
        add(at, fmt::format("{} of dtype {}", each.name, int(other)),
            [=](fb::PlanT &plan) { find(plan).*each.field = other; });
  }

  void add(const std::string &at, const std::string &what, std::function<void(fb::PlanT &)> apply) {
    mutants_.push_back({"library", fmt::format("{}: {}", at, what), std::move(apply)});
  }

  const fb::PlanT &plan_;
  std::vector<Mutant> mutants_;
};

} // namespace

std::vector<Mutant> libraryMutants(const fb::PlanT &plan) { return LibraryMaker(plan).make(); }

} // namespace trainc::test
