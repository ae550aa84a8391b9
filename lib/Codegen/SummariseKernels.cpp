// Pass `summarise-kernels`: annotates each scheduled op with its launches, from summaries of kernels without
// code.
#include "dialects/Dist/Dist.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Analysis/KernelAttributes.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Summaries.h"
#include "lib/Plan/SchemaEnums.h"
#include "lib/Support/StoredElement.h"
#include "plan/facts/collective.h"
#include "plan/settings/settings.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SUMMARISEKERNELSPASS
#include "lib/Codegen/Passes.h.inc"

namespace {

struct SummariseKernelsPass : impl::SummariseKernelsPassBase<SummariseKernelsPass> {
  SummariseKernelsPass() = default;
  explicit SummariseKernelsPass(std::shared_ptr<codegen::Summaries> summaries)
      : summaries_(std::move(summaries)) {}
  void runOnOperation() override;

private:
  /// Launches shared by equal ops.
  struct Known {
    codegen::KernelSummary summary;
    SmallVector<Attribute> kernels; ///< one symbol for each launch
  };

  Known declare(Operation *op, codegen::KernelSummary summary, plan::KernelKind kind);
  static void addSource(Operation *op, ArrayAttr kernels, ModuleOp sources, size_t number);
  void annotate(Operation *op, const Known &known);
  LogicalResult summariseSum(CollectiveOpInterface start, int64_t places, const codegen::Target &target);
  FailureOr<FlatSymbolRefAttr> kernelOf(const codegen::RankSum &sum, Location loc,
                                        const codegen::Target &target);

  std::shared_ptr<codegen::Summaries> summaries_ = std::make_shared<codegen::Summaries>();
  ModuleOp sources_;
  /// kernels of sums over ranks, by element types and number of ranks
  std::map<std::tuple<const void *, const void *, int64_t>, FlatSymbolRefAttr> sums_;
  size_t kernels_ = 0, ops_ = 0; ///< counters for names
};

} // namespace

/// Numbers distinguish kernels until their code names them. Names of states do not contain '#'.
SummariseKernelsPass::Known SummariseKernelsPass::declare(Operation *op, codegen::KernelSummary summary,
                                                          plan::KernelKind kind) {
  Known known;
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  for (const codegen::LaunchSummary &launch : summary.launches) {
    plan::KernelOp kernel = codegen::declareKernel(
        builder, op->getLoc(), launch.name + "#" + std::to_string(kernels_++), kind, summary, launch);
    kernel.setOnHost(runsOnHost(op));
    known.kernels.push_back(FlatSymbolRefAttr::get(kernel));
  }
  known.summary = std::move(summary);
  return known;
}

/// Adds a function with the op, from which generate-kernels makes code.
void SummariseKernelsPass::addSource(Operation *op, ArrayAttr kernels, ModuleOp sources, size_t number) {
  OpBuilder builder = OpBuilder::atBlockEnd(sources.getBody());
  const std::string name = "source." + std::to_string(number);
  auto function = func::FuncOp::create(builder, op->getLoc(), name,
                                       builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  function->setAttr(kKernelsAttr, kernels);
  builder.setInsertionPointToStart(function.addEntryBlock());
  Operation *copy = builder.clone(*op);
  copy->setOperands(function.getArguments());
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
}

/// Returns a scratch buffer's type; all launches use the same element type.
static RankedTensorType scratchType(const codegen::KernelSummary &summary, unsigned index) {
  SmallVector<codegen::KernelParam> params;
  for (const codegen::LaunchSummary &launch : summary.launches)
    llvm::append_range(params, launch.params);
  if (summary.library)
    llvm::append_range(params, llvm::make_second_range(summary.library->operands));
  auto *param = llvm::find_if(params, [&](const codegen::KernelParam &each) {
    return each.source == codegen::KernelParam::Source::Scratch && each.index == index;
  });
  assert(param != params.end() && "scratch that nobody uses");
  const Type element = storedElement(param->element);
  return RankedTensorType::get({summary.scratchBytes[index] / elementBytes(element)}, element);
}

void SummariseKernelsPass::annotate(Operation *op, const Known &known) {
  Builder builder(&getContext());
  SmallVector<Attribute> launches, aliases;
  for (auto [launch, kernel] : llvm::zip_equal(known.summary.launches, known.kernels)) {
    SmallVector<int64_t> args;
    for (const codegen::KernelParam &param : launch.params)
      args.push_back(codegen::argumentNumber(op, param));
    launches.push_back(plan::LaunchSpecAttr::get(&getContext(), cast<FlatSymbolRefAttr>(kernel), args));
  }
  for (auto [operand, result] : known.summary.mayAlias)
    aliases.push_back(builder.getDenseI64ArrayAttr({int64_t(operand), int64_t(result)}));
  if (known.summary.library)
    op->setAttr(kLibraryCallAttr, codegen::specOf(op, *known.summary.library));
  else
    op->setAttr(kLaunchesAttr, builder.getArrayAttr(launches));
  SmallVector<Type> scratch;
  for (unsigned index = 0; index < known.summary.scratchBytes.size(); ++index)
    scratch.push_back(scratchType(known.summary, index));
  if (!scratch.empty())
    op->setAttr(kScratchAttr, builder.getTypeArrayAttr(scratch));
  if (!aliases.empty())
    op->setAttr(kMayAliasAttr, builder.getArrayAttr(aliases));
}

/// Returns a kernel that sums any number of elements; its source takes one element of each rank.
FailureOr<FlatSymbolRefAttr> SummariseKernelsPass::kernelOf(const codegen::RankSum &sum, Location loc,
                                                            const codegen::Target &target) {
  FlatSymbolRefAttr &kernel =
      sums_[{sum.element.getAsOpaquePointer(), sum.into.getAsOpaquePointer(), sum.places}];
  if (kernel)
    return kernel;
  OpBuilder builder = OpBuilder::atBlockEnd(sources_.getBody());
  const SmallVector<Type> sent(sum.places, RankedTensorType::get({1}, sum.element));
  Type result = RankedTensorType::get({1}, sum.into);
  auto function = func::FuncOp::create(builder, loc, "source." + std::to_string(ops_++),
                                       builder.getFunctionType(sent, {result}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto op = dist::RankSumOp::create(builder, loc, result, function.getArguments());
  func::ReturnOp::create(builder, loc, op.getSum());
  FailureOr<codegen::KernelSummary> summary = target.summarise(op);
  if (failed(summary))
    return failure();
  const Known known = declare(op, std::move(*summary), plan::KernelKind::rank_sum);
  function->setAttr(kKernelsAttr, builder.getArrayAttr(known.kernels));
  return kernel = cast<FlatSymbolRefAttr>(known.kernels.front());
}

/// Bytes of the workspace that receives other ranks' values of a rank's share. If it is smaller than the
/// share, ranks send in rounds. Shares are aligned to cache lines.
static int64_t workspaceBytes(CollectiveOpInterface start, int64_t places) {
  static constexpr int64_t kLine = 64, kMaxBytes = int64_t(64) << 20;
  const int64_t share = llvm::divideCeil(tensorBytes(start->getOperand(0).getType()), places);
  return std::max(std::min((places - 1) * int64_t(llvm::alignTo(share, kLine)), kMaxBytes),
                  (places - 1) * kLine);
}

/// `places` is the number of ranks in the group.
LogicalResult SummariseKernelsPass::summariseSum(CollectiveOpInterface start, int64_t places,
                                                 const codegen::Target &target) {
  const codegen::RankSum sum{.element = getElementTypeOrSelf(start->getOperand(0)),
                             .into = getElementTypeOrSelf(start->getResult(0)),
                             .places = places};
  if (!traitsOf(inSchema(start.getCollectiveKind())).sums || !target.addsByKernel(sum))
    return success();
  FailureOr<FlatSymbolRefAttr> kernel = kernelOf(sum, start.getLoc(), target);
  if (failed(kernel))
    return failure();
  start->setAttr(kRankSumAttr, *kernel);
  Builder builder(&getContext());
  const int64_t numbers = workspaceBytes(start, sum.places) / elementBytes(sum.element);
  start->setAttr(kScratchAttr, builder.getTypeArrayAttr(RankedTensorType::get({numbers}, sum.element)));
  return success();
}

void SummariseKernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(requireConcrete(module)))
    return signalPassFailure();
  SmallVector<std::pair<Operation *, plan::KernelKind>> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<plan::KernelKind> kind = codegen::kernelKind(op);
    if (!kind)
      return WalkResult::advance();
    ops.emplace_back(op, *kind);
    return WalkResult::skip(); // a kernel's region is part of it
  });
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(module);
  OwningOpRef<ModuleOp> sources = target->createModule(getContext()), hostSources;
  sources_ = *sources;
  const auto onHost = llvm::find_if(ops, [](const auto &each) { return runsOnHost(each.first); });
  if (onHost != ops.end()) {
    if (!target->host()) {
      onHost->first->emitOpError("runs on the host, which is the device of target ") << target->name();
      return signalPassFailure();
    }
    hostSources = target->host()->createModule(getContext());
    hostSources->setSymName("host_kernels");
  }
  kernels_ = ops_ = 0;
  sums_.clear();
  // Layers repeat, so that most ops equal an earlier one. Ops are compared before any is annotated.
  DenseMap<Operation *, size_t, codegen::EqualOps> numbers;
  std::vector<Known> known;
  SmallVector<size_t> chosen; // index into `known` for each op
  for (auto [op, kind] : ops) {
    auto [entry, isNew] = numbers.try_emplace(op, known.size());
    chosen.push_back(entry->second);
    if (!isNew)
      continue;
    const bool isOfHost = runsOnHost(op);
    FailureOr<codegen::KernelSummary> summary = summaries_->of(op, isOfHost ? *target->host() : *target);
    if (failed(summary))
      return signalPassFailure();
    known.push_back(declare(op, std::move(*summary), kind));
    if (!known.back().summary.library)
      addSource(op, ArrayAttr::get(&getContext(), known.back().kernels), isOfHost ? *hostSources : sources_,
                ops_++);
  }
  for (auto [launched, index] : llvm::zip_equal(ops, chosen))
    annotate(launched.first, known[index]);
  const Mesh mesh = dist::meshOf(module);
  const WalkResult walked = module.walk([&](CollectiveOpInterface start) {
    return WalkResult(summariseSum(start, dist::shapeOf(mesh, start.getAxesAttr()).members, *target));
  });
  if (walked.wasInterrupted())
    return signalPassFailure();
  module.push_back(sources.release());
  if (hostSources)
    module.push_back(hostSources.release());
}

std::unique_ptr<Pass> createSummariseKernels(std::shared_ptr<codegen::Summaries> summaries) {
  return std::make_unique<SummariseKernelsPass>(std::move(summaries));
}

} // namespace trainc
