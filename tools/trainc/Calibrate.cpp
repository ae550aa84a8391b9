// `trainc calibrate`: measures this machine into a cluster file.
#include "base/clock.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/output_file.h"
#include "base/print.h"
#include "lib/Pipelines/Pipeline.h"
#include "plan/cost/cluster_file.h"
#include "plan/file/file.h"
#include "plan/settings/settings.h"
#include "tools/language/parse_model.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/Measure.h"
#include "tools/trainc/Paths.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainc {

/// Two transformer blocks, large enough for products and kernels to reach the rates of real models.
static constexpr const char *kModel = R"(
nn.block @layer(%x: tensor<?x?x768xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %n1 to 2304 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 12 causal
  %a = nn.linear "attn.c_proj" %heads to 768 layout in_out
  %y = nn.add %x, %a
  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "mlp.c_fc" %n2 to 3072 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 768 layout in_out
  %z = nn.add %y, %m
  nn.return %z
}
nn.model @calibration(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %wte = nn.embedding "wte" %tokens of 8192 by 768
  %h = nn.repeat @layer "h" times 2 (%wte)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n tied "wte.weight" no_bias
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @calibrate { model @calibration  optimizer adamw(lr 1e-4)  clip 1.0  batch 4 x 256 }
)";

static constexpr uint32_t kSteps = 3;

/// Compiles the model for a CPU level; empty after an error, which was printed.
static std::vector<uint8_t> compileFor(train::Precision precision, const std::string &cpu) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(kModel, "calibration"), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = parseModel(sources, context);
  CompileOptions options;
  options.settings = {train::kPrecision.as(precision), train::kCpu.as(cpu)};
  if (!module || failed(runPhases(*module, options)))
    return {};
  std::string report;
  auto plan = finishPlan(*module, /*secondsSoFar=*/0, report);
  return succeeded(plan) ? std::move(*plan) : std::vector<uint8_t>();
}

/// Result of `measure(plan)` for the model's plan.
template <typename Measure>
static auto measureModel(train::Precision precision, const std::string &cpu, Measure measure)
    -> decltype(measure(std::declval<const fb::Plan &>())) {
  const std::vector<uint8_t> payload = compileFor(precision, cpu);
  if (payload.empty())
    return failed("the model that is measured did not compile");
  TRAINC_ASSIGN_OR_RETURN(const fb::Plan *const plan, readPayload(std::as_bytes(std::span(payload))));
  return measure(*plan);
}

static Result<KernelTimes> kernelTimes(const fb::Plan &plan) { return measureKernels(plan, kSteps); }

namespace {

/// All measurements.
struct Calibration {
  std::string cpu; ///< "AMD EPYC 9R14, 2 threads", and the level of the kernels, if not the CPU's own
  KernelRates kernels;
  LinkRates link;
  DiskRates disk;
  double transferSeconds; ///< slowdown of computation per transfer
};

} // namespace

static std::string jsonOf(const Calibration &found) {
  using Json = nlohmann::ordered_json;
  const auto measured = [](double value, const char *what) {
    // four digits; further ones are not reproducible
    const double digits = value > 0 ? std::pow(10, 3 - std::floor(std::log10(value))) : 1;
    return Json{{"value", std::round(value * digits) / digits}, {"source", what}};
  };
  const char *kCopied = "as examples/clusters/cpu.json has it; not measured";
  const KernelRates &kernels = found.kernels;
  const double products = kernels.fullProducts, half = kernels.halfProducts;
  Json device{
      {"name", found.cpu},
      {"shared_by_ranks", true},
      {"peak_flops_per_second", measured(std::max(products, half), "the faster of the products")},
      {"packs_factors", true},
      {"f32_flops_per_second",
       measured(products, "products of f32 in a step of two blocks, without the time to move their bytes")},
      {"arithmetic_per_second",
       measured(kernels.arithmetic, "kernels with more than 4 instructions a byte, in f32 and bf16")},
      {"tf32_flops_per_second", measured(products, "as f32")},
      {"bf16_flops_per_second", measured(half, "products of bf16 in the same step")},
      {"f16_flops_per_second", measured(products, "as f32, to which kernels widen these factors")},
      {"f32_attention_flops_per_second",
       measured(kernels.fullAttention, "attention of f32 in it, besides its exponentials")},
      {"attention_flops_per_second",
       measured(kernels.halfAttention, "attention of bf16 in it, besides its exponentials")},
      {"library_attention_flops_per_second", measured(kernels.halfAttention, "as by kernels")},
      {"library_attention_grad_flops_per_second", measured(kernels.halfAttention, "as by kernels")},
      {"bytes_per_second",
       measured(kernels.bytes, "kernels that move a MiB and more, with less than an instruction a byte")},
      {"launch_seconds", measured(kernels.launchSeconds, "the median of kernels that move little")}};
  const Machine &reference = builtInCluster("cpu").machine;
  Json node{{"bytes_per_second", measured(found.link.bytes, "an all-reduce of 32 MiB by two ranks")},
            {"share_beside_compute", measured(reference.linkShareBesideCompute, kCopied)},
            {"meet_seconds", measured(found.link.meetSeconds, "an all-reduce of 256 bytes by two ranks")}};
  Json disk{
      {"read_bytes_per_second", measured(found.disk.readBytes, "256 MiB in the folder for temporary files")},
      {"write_bytes_per_second",
       measured(found.disk.writeBytes, "256 MiB in the folder for temporary files")},
      {"access_seconds", measured(found.disk.accessSeconds, "reads and writes of 4 KiB there")},
      {"compute_seconds", measured(found.transferSeconds, "steps in f32 beside reads and writes of 64 KiB")}};
  const Json host = Json::object(
      {{"bytes_per_second", measured(kernels.bytes / 2, "host and device are one: a copy reads and "
                                                        "writes its memory")}});
  const Json json{{"trainc_cluster", 1}, {"name", found.cpu}, {"source", "measured by trainc calibrate"},
                  {"device", device},    {"node", node},      {"host", host},
                  {"disk", disk}};
  return json.dump(2) + "\n";
}

/// Prefix of the output of jsonOf(), and of the files in examples/clusters.
static constexpr OutputKind kClusterFiles{"-o ", "a cluster file", "{\n  \"trainc_cluster\": "};

static Status runCalibration(const CalibrateCommand &command) {
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + command.output, command.output}}, {}));
  TRAINC_RETURN_IF_ERROR(requireKind(command.output, kClusterFiles));
  const double start = steadySeconds();
  const auto say = [&](const std::string &text) {
    if (!command.quiet)
      putMessage(stderr, fmt::format("{:5.1f} s  {}\n", steadySeconds() - start, text));
  };
  Calibration found;
  found.cpu = describeThisCpu();
  if (command.cpu != "native")
    found.cpu += fmt::format(", kernels for {}", command.cpu);
  say("the disk"); // first, because the disk may lack space
  TRAINC_ASSIGN_OR_RETURN(found.disk, measureDisk());
  say(fmt::format("{:.3g} GB/s read, {:.3g} GB/s written, {:.3g} us an access", found.disk.readBytes * 1e-9,
                  found.disk.writeBytes * 1e-9, found.disk.accessSeconds * 1e6));
  say("kernels in f32: two blocks of width 768");
  TRAINC_ASSIGN_OR_RETURN(const KernelTimes full,
                          measureModel(train::Precision::fp32, command.cpu, kernelTimes));
  say("the same in bf16");
  TRAINC_ASSIGN_OR_RETURN(const KernelTimes half,
                          measureModel(train::Precision::bf16, command.cpu, kernelTimes));
  const KernelRates &rates = found.kernels = ratesOf(full, half);
  say(fmt::format("products {:.4g} and {:.4g} GFLOP/s, attention {:.4g} and {:.4g}; {:.3g} GB/s; {:.3g} "
                  "billion instructions a second; {:.3g} us a launch",
                  rates.fullProducts * 1e-9, rates.halfProducts * 1e-9, rates.fullAttention * 1e-9,
                  rates.halfAttention * 1e-9, rates.bytes * 1e-9, rates.arithmetic * 1e-9,
                  rates.launchSeconds * 1e6));
  say("steps in f32 beside the disk");
  TRAINC_ASSIGN_OR_RETURN(found.transferSeconds,
                          measureModel(train::Precision::fp32, command.cpu, measureComputeOfTransfers));
  say(fmt::format("each transfer to or from the disk takes {:.3g} us from computation",
                  found.transferSeconds * 1e6));
  say("the exchange between two ranks");
  TRAINC_ASSIGN_OR_RETURN(found.link, measureLink());
  say(fmt::format("{:.3g} GB/s, {:.3g} us to meet", found.link.bytes * 1e-9, found.link.meetSeconds * 1e6));
  const std::string text = jsonOf(found);
  if (const Result<Cluster> read = parseCluster(command.output, text); !read.ok())
    return failed("what was measured makes no cluster file: {}", read.status().message());
  TRAINC_RETURN_IF_ERROR(writeFileAtomically(command.output, std::array{std::as_bytes(std::span(text))}));
  sayWritten(command.quiet, command.output, fmt::format("the rates of {}", found.cpu));
  return {};
}

int runCalibrate(const CalibrateCommand &command) { return finish(runCalibration(command)); }

} // namespace trainc
