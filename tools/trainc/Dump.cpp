// `trainc dump`: a plan file as text, the settings that it was compiled with, or its code; a file of weights
// as text.
#include "base/print.h"
#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/schedules.h"
#include "plan/facts/settings.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/file/file.h"
#include "plan/schema/enum_words.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/DumpWeights.h"
#include "tools/trainc/Paths.h"
#include "tools/trainc/TableText.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

// --- The plan ---

namespace trainc {

namespace {

class PlanPrinter {
public:
  explicit PlanPrinter(const fb::Plan &plan) : plan_(plan), mesh_(plan) {}

  std::string print();

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text_), "{:{}}", "", 2 * indent_);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void printMemory();
  void printCode();
  void printStates();
  void printTraining();
  void printEntry(const fb::Entry &entry);
  void printInstruction(uint32_t index, const fb::Instruction &instruction);
  void printInstructions(const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &instructions);
  std::string source(uint32_t index) const;
  std::string buffer(uint32_t index) const;
  std::string operand(const fb::Operand &operand) const;
  std::string launch(const fb::Launch &launch) const;
  std::string rankSum(const fb::Range &range) const;
  std::string collective(const fb::Collective &collective) const;
  std::string libraryCall(const fb::Instruction &call) const;
  std::string operation(const fb::Instruction &instruction) const;

  const fb::Plan &plan_;
  Mesh mesh_;
  std::string text_;
  int indent_ = 0;
};

std::string shapeText(const flatbuffers::Vector<uint64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string PlanPrinter::source(uint32_t index) const {
  const fb::Source &source = *plan_.sources()->Get(index);
  if (!source.file() || source.line() == 0)
    return source.op()->str();
  return fmt::format("{} ({}:{}:{})", source.op()->str(), source.file()->str(), source.line(),
                     source.column());
}

std::string PlanPrinter::buffer(uint32_t index) const {
  const flatbuffers::String *name = plan_.buffers()->Get(index)->name();
  return name ? name->str() : fmt::format("#{}", index);
}

std::string PlanPrinter::operand(const fb::Operand &operand) const {
  std::string text = buffer(operand.buffer());
  if (operand.offset())
    text += fmt::format("+{}", operand.offset());
  if (operand.loop_stride())
    text += fmt::format("+i*{}", operand.loop_stride());
  if (operand.rank_stride())
    text += fmt::format("+{}*{}", mesh_.textOf(axesOf(operand.axes())), operand.rank_stride());
  return text;
}

std::string PlanPrinter::launch(const fb::Launch &launch) const {
  const fb::Kernel &kernel = *plan_.kernels()->Get(launch.kernel());
  std::string text = fmt::format("launch {} x{} (", kernel.symbol()->str(), kernel.grid());
  for (uint32_t index = 0; index < launch.args()->size(); ++index) {
    fb::Access access = kernel.params()->Get(index)->access();
    const char *mark = access == fb::Access::Read ? "" : access == fb::Access::Write ? "out " : "inout ";
    text += fmt::format("{}{}{}", index ? ", " : "", mark, operand(*launch.args()->Get(index)));
  }
  return text + ")";
}

/// " summed by rank_sum_5f3a in update.3.scratch bytes=128", if a kernel computes the sums; else empty.
std::string PlanPrinter::rankSum(const fb::Range &range) const {
  if (!range.sum_kernel())
    return "";
  return fmt::format(" summed by {} in {} bytes={}",
                     view(plan_.kernels()->Get(*range.sum_kernel())->symbol()), operand(*range.workspace()),
                     range.workspace_bytes());
}

std::string PlanPrinter::collective(const fb::Collective &collective) const {
  std::vector<std::string> ranges;
  for (const fb::Range *range : *collective.ranges())
    ranges.push_back(fmt::format("{} -> {} {}{} elements={}", operand(*range->source()),
                                 operand(*range->destination()), dtypeName(range->dtype()),
                                 range->widens() ? " into f32" : "", range->elements()) +
                     rankSum(*range));
  return fmt::format("{} over {} {}", collectiveName(collective.kind()),
                     mesh_.textOf(axesOf(*collective.axes())), fmt::join(ranges, ", "));
}

/// "batch 2, 4 x 16 x 256, b transposed, adds, gelu_tanh": m x n x k; for fp8 factors also their types.
std::string sizesText(const fb::MatrixProduct &call) {
  std::string text = call.batch() == 1 ? "" : fmt::format("batch {}, ", call.batch());
  text += fmt::format("{} x {} x {}", call.m(), call.n(), call.k());
  text += call.transpose_a() ? ", a transposed" : "";
  text += call.transpose_b() ? ", b transposed" : "";
  text += call.adds() ? ", adds" : "";
  if (isF8(call.factors()))
    text += fmt::format(", {} by {}", dtypeName(call.factors()), dtypeName(factorsOfB(call)));
  text += call.tf32() ? ", tf32" : "";
  if (call.activation() != fb::Activation::None)
    text += fmt::format(", {}", wordOf(call.activation()));
  if (call.side_sum() != fb::SideSum::None)
    text += fmt::format(", sums of {}", wordOf(call.side_sum()));
  return text;
}

/// "batch 2, 64 queries, 64 keys, 4 heads of 16, bf16, causal, scale 0.25".
std::string sizesText(const fb::Attention &call) {
  std::string text = fmt::format("batch {}, {} queries, {} keys, {} heads of {}", call.batch(),
                                 call.queries(), call.keys(), call.heads(), call.head_size());
  if (call.value_size() != call.head_size())
    text += fmt::format(" and {}", call.value_size());
  if (call.key_heads() != call.heads())
    text += fmt::format(", {} key heads", call.key_heads());
  if (call.values() != fb::DType::F32)
    text += fmt::format(", {}", dtypeName(call.values()));
  return text + fmt::format("{}, scale {}", call.causal() ? ", causal" : "", call.scale());
}

/// "matrix product 4 x 16 x 256 (a x, b w, out result y)"; rows and matrices with gaps between them say so.
std::string PlanPrinter::libraryCall(const fb::Instruction &call) const {
  const fb::MatrixProduct *product = call.operation_as_MatrixProduct();
  std::vector<std::string> operands;
  for (const LibraryOperand &each : libraryOperands(call)) {
    if (!each.operand)
      continue;
    const StridedBytes runs = each.bytes.joined();
    std::string text = fmt::format("{}{} {}",
                                   !each.writes ? ""
                                   : each.reads ? "inout "
                                                : "out ",
                                   each.name, operand(*each.operand));
    if (runs.rows > 1)
      text += fmt::format(" rows every {} bytes", runs.rowStride);
    if (runs.matrices > 1)
      text += fmt::format(" matrices every {} bytes", runs.matrixStride);
    operands.push_back(each.anyType ? fmt::format("{} bytes={}", text, runs.rowBytes) : text);
  }
  return fmt::format("{} {} ({})", libraryCallName(call),
                     product ? sizesText(*product) : sizesText(*call.operation_as_Attention()),
                     fmt::join(operands, ", "));
}

std::string PlanPrinter::operation(const fb::Instruction &instruction) const {
  if (const fb::Launch *op = instruction.operation_as_Launch())
    return launch(*op);
  if (const fb::Copy *op = instruction.operation_as_Copy())
    return fmt::format("copy {} -> {} bytes={}", operand(*op->source()), operand(*op->destination()),
                       op->bytes());
  if (const fb::Zero *op = instruction.operation_as_Zero())
    return fmt::format("zero {} bytes={}", operand(*op->destination()), op->bytes());
  if (const fb::Collective *op = instruction.operation_as_Collective())
    return collective(*op);
  if (isLibraryCall(instruction))
    return libraryCall(instruction);
  return fmt::format("loop i < {}", instruction.operation_as_Loop()->count());
}

/// ", predicted 2.13 us"; empty without a prediction.
std::string predictedText(double seconds) {
  const double microseconds = seconds * 1e6;
  if (microseconds <= 0)
    return "";
  return microseconds < 999.5 ? fmt::format(", predicted {:.3g} us", microseconds)
                              : fmt::format(", predicted {:.0f} us", microseconds);
}

/// "12: copy a -> b bytes=64 on copy_in after 3, 7  // source, predicted 2.1 us"; the compute stream is
/// omitted.
void PlanPrinter::printInstruction(uint32_t index, const fb::Instruction &instruction) {
  const fb::Loop *loop = instruction.operation_as_Loop();
  const std::string stream =
      instruction.stream() == fb::Stream::Compute ? "" : fmt::format(" on {}", wordOf(instruction.stream()));
  const std::string after = instruction.after() && instruction.after()->size() > 0
                                ? fmt::format(" after {}", fmt::join(*instruction.after(), ", "))
                                : "";
  line("{}: {}{}{}{}  // {}{}", index, operation(instruction), stream, after, loop ? " {" : "",
       source(instruction.source()), predictedText(instruction.predicted_seconds()));
  if (!loop)
    return;
  printInstructions(*loop->body());
  line("}}");
}

void PlanPrinter::printInstructions(
    const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &instructions) {
  ++indent_;
  for (uint32_t index = 0; index < instructions.size(); ++index)
    printInstruction(index, *instructions.Get(index));
  --indent_;
}

void PlanPrinter::printMemory() {
  for (const fb::Arena *arena : *plan_.arenas())
    line("arena {} in {} bytes={}{}", arena->name()->str(), wordOf(arena->space()), arena->bytes(),
         arena->persistent() ? " persistent" : "");
  for (uint32_t index = 0; index < plan_.buffers()->size(); ++index) {
    const fb::Buffer &each = *plan_.buffers()->Get(index);
    line("buffer {} in {} at {} bytes={} {} {}", buffer(index),
         plan_.arenas()->Get(each.arena())->name()->str(), each.offset(), each.bytes(),
         dtypeName(each.dtype()), wordOf(each.role()));
    if (each.fetched())
      line("  fetched from {}", operand(*each.fetched()));
    if (each.stored())
      for (const fb::Operand *place : *each.stored())
        line("  stored to {}", operand(*place));
  }
}

const char *accessName(fb::Access access) {
  return access == fb::Access::Read ? "read" : access == fb::Access::Write ? "write" : "read_write";
}

std::string parameters(const fb::Kernel &kernel) {
  std::vector<std::string> texts;
  for (const fb::Param *param : *kernel.params()) {
    texts.push_back(fmt::format("{} {} bytes={}", accessName(param->access()), dtypeName(param->dtype()),
                                param->bytes()));
    if (param->may_alias() && param->may_alias()->size() > 0)
      texts.back() += fmt::format(" may_alias=[{}]", fmt::join(*param->may_alias(), ", "));
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

void PlanPrinter::printCode() {
  for (const fb::Object *object : *plan_.objects()) {
    std::vector<std::string_view> features;
    for (const auto *feature : *object->features())
      features.push_back(view(feature));
    line("object {} bytes={}{}{}", object->level()->str(), object->image()->size(),
         features.empty() ? "" : " needs ", fmt::join(features, ", "));
  }
  for (const fb::Kernel *kernel : *plan_.kernels())
    line("kernel {} {}{} grid={} {}flops={} {}{}{}{}{}", kernel->symbol()->str(), wordOf(kernel->kind()),
         kernel->on_host() ? " on_host" : "", kernel->grid(),
         kernel->threads() > 1 ? fmt::format("threads={} ", kernel->threads()) : "", kernel->flops(),
         kernel->moved_bytes() ? fmt::format("moves={} ", *kernel->moved_bytes()) : "",
         kernel->chain() > 0 ? fmt::format("chain={} ", kernel->chain()) : "",
         kernel->shared_bytes() > 0 ? fmt::format("shared={} ", kernel->shared_bytes()) : "",
         kernel->arithmetic() > 0 ? fmt::format("arithmetic={} ", kernel->arithmetic()) : "",
         parameters(*kernel));
}

void PlanPrinter::printStates() {
  for (const fb::State *state : *plan_.states())
    line("state {} {} {} {} in {}{}{}", state->name()->str(), dtypeName(state->dtype()),
         shapeText(*state->shape()), wordOf(state->role()), buffer(state->buffer()),
         state->offset() ? fmt::format(" from element {}", state->offset()) : "",
         state->sharded() ? " sharded over " + mesh_.textOf(axesOf(*state->sharded())) : "");
  for (const fb::Scalar *scalar : *plan_.scalars())
    line("scalar {} {}{} {} in {}", scalar->name()->str(), dtypeName(scalar->dtype()),
         scalar->count() > 1 ? fmt::format("[{}]", scalar->count()) : "",
         scalar->direction() == fb::Direction::ToDevice ? "to_device" : "from_device",
         buffer(scalar->buffer()));
}

void PlanPrinter::printTraining() {
  if (const fb::Training *training = plan_.training())
    line("training {}", textOfTable(*training));
  if (const fb::Generation *generation = plan_.generation())
    line("generation context={} vocabulary={}{} logits in {}", generation->context(),
         generation->vocabulary(),
         generation->batch() > 1 ? fmt::format(" batch={}", generation->batch()) : "",
         buffer(generation->logits()));
  if (plan_.no_training())
    line("no training: {}", plan_.no_training()->str());
  if (plan_.no_generation())
    line("no generation: {}", plan_.no_generation()->str());
  if (plan_.exports())
    for (const fb::Export *file : *plan_.exports())
      line("export {} {}", file->file()->str(), view(file->text()));
  if (plan_.report())
    line("report {}", view(plan_.report()));
}

std::string allowedValues(const fb::Input &input) {
  return input.limit() ? fmt::format(" below {} or {}{}", input.limit(), input.ignore(),
                                     input.pads() ? ", which pads" : "")
                       : "";
}

void PlanPrinter::printEntry(const fb::Entry &entry) {
  line("entry {} flops={} {{", entry.name()->str(), entry.flops());
  ++indent_;
  if (entry.inputs())
    for (const fb::Input *input : *entry.inputs())
      line("input {} {} {} {}{} in {}", input->column()->str(), dtypeName(input->dtype()),
           shapeText(*input->shape()), input->extent() == fb::BatchExtent::Step ? "step" : "micro",
           allowedValues(*input), buffer(input->buffer()));
  --indent_;
  printInstructions(*entry.instructions());
  line("}}");
}

std::string PlanPrinter::print() {
  const std::string mesh = plan_.ranks() > 1 ? fmt::format(" mesh=[{}]", mesh_.text()) : "";
  line("plan {} target={} ranks={}{} by {}", plan_.name()->str(), plan_.target()->str(), plan_.ranks(), mesh,
       plan_.producer() ? plan_.producer()->str() : "unknown");
  printMemory();
  printCode();
  printStates();
  printTraining();
  for (const fb::Entry *entry : *plan_.entries())
    printEntry(*entry);
  return std::move(text_);
}

} // namespace

/// Memory, states, inputs and every instruction with its operands and source.
static std::string dumpPlan(const fb::Plan &plan) { return PlanPrinter(plan).print(); }

} // namespace trainc

// --- Settings, from the report in the plan ---

namespace trainc {

namespace {

size_t widest(const std::vector<Setting> &settings, std::string Setting::*column) {
  size_t width = 0;
  for (const Setting &each : settings)
    width = std::max(width, (each.*column).size());
  return width;
}

} // namespace

/// One line per setting: its word, its value, and the origin of the value. Fails if the report does not list
/// settings.
static Result<std::string> dumpSettings(const fb::Plan &plan) {
  const std::vector<Setting> lines = settingsOf(plan);
  if (lines.empty())
    return invalidInput(
        "the plan does not say what it was compiled with; compile it again with this version");
  const size_t settings = widest(lines, &Setting::setting),
               values = std::min<size_t>(widest(lines, &Setting::value), 48);
  std::string text;
  for (const Setting &line : lines)
    text += fmt::format("{:{}}  {:{}}  {}\n", line.setting, settings, line.value, values, line.source);
  return text;
}

/// Code of all kernels as text, for targets whose code has a text (PTX).
static Result<std::string> dumpCode(const fb::Plan &plan) {
  const std::span<const CodeLevel> code = targetOf(plan).code;
  for (const fb::Object *object : *plan.objects()) {
    const auto level = std::ranges::find(code, view(object->level()), &CodeLevel::name);
    if (level != code.end() && !level->text.empty())
      return std::string(reinterpret_cast<const char *>(object->image()->data()),
                         object->image()->size() - 1); // without the zero byte at the end
  }
  const auto hasText = [](const TargetTraits &target) {
    return std::ranges::any_of(target.code, [](const CodeLevel &level) { return !level.text.empty(); });
  };
  return invalidInput("expected a plan for target {}, whose code is text (PTX), found one for target {}; its "
                      "machine code has no text, so leave out --code",
                      std::string_view(namesOfTargets(hasText)), plan.target()->string_view());
}

// --- The command ---

int runDump(const DumpCommand &command) {
  if (Status status = requireRegularFile(command.plan); !status.ok())
    return finish(status);
  if (isWeightFile(command.plan)) {
    if (command.settings || command.code)
      return finish(invalidInput("{}: expected a plan for --{}, found a file of weights", command.plan,
                                 command.settings ? "settings" : "code"));
    const Result<std::string> text = weightsText(command.plan);
    return finish(text.ok() ? printText(*text) : text.status());
  }
  Result<PlanFile> file = PlanFile::open(command.plan);
  if (!file.ok())
    return finish(file.status());
  Result<std::string> text = command.settings ? dumpSettings(file->plan())
                             : command.code   ? dumpCode(file->plan())
                                              : dumpPlan(file->plan());
  if (!text.ok())
    return finish(invalidInput("{}: {}", command.plan, text.status().message()));
  return finish(printText(*text));
}

} // namespace trainc
