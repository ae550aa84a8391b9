// Compares a program of many ranks with the same training on one.
#include "Arguments.h"
#include "Comparison.h"
#include "Modes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Reference/Ranks.h"
#include "plan/settings/settings.h"

#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

constexpr int64_t kSteps = 3;

/// Some steps of a program in phase `scheduled`, interpreted. Micro-batch m of rank r is the step's
/// micro-batch r * accumulate + m, as in the runtime.
class Training {
public:
  Training(ModuleOp module, train::ProgramOp program)
      : module(module), accumulate(train::kAccumulate.of(program)),
        ranks(train::kRanks.of(program), EntryMemory(module)) {}

  LogicalResult run() {
    setInteger("seed", 1);
    if (failed(entry(EntryKind::init)) || (find(EntryKind::refresh) && failed(entry(EntryKind::refresh))))
      return failure();
    for (int64_t step = 0; step < kSteps; ++step)
      if (failed(trainStep(step)))
        return failure();
    return success();
  }

  ArrayRef<EntryMemory> memories() const { return ranks; }

private:
  LogicalResult trainStep(int64_t step) {
    setInteger("step", step);
    for (EntryMemory &rank : ranks)
      if (auto rate = rank.states.find("lr"); rate != rank.states.end())
        rate->second.reals[0] = 0.01;
    fillStep(step);
    if (failed(entry(EntryKind::begin_step)))
      return failure();
    for (int64_t micro = 0; micro < accumulate; ++micro) {
      const bool last = micro + 1 == accumulate && find(EntryKind::last_micro_step);
      fillMicro(step, micro);
      if (failed(entry(last ? EntryKind::last_micro_step : EntryKind::micro_step)))
        return failure();
    }
    return find(EntryKind::update) ? entry(EntryKind::update) : success();
  }

  train::EntryOp find(EntryKind kind) { return findEntry<train::EntryOp>(module, kind); }

  LogicalResult entry(EntryKind kind) { return runEntryOnRanks(module, kind, ranks); }

  void setInteger(StringRef scalar, int64_t value) {
    for (EntryMemory &rank : ranks)
      if (auto state = rank.states.find(scalar); state != rank.states.end())
        state->second.integers[0] = value;
  }

  void fillMicro(int64_t step, int64_t micro) {
    for (auto [index, rank] : llvm::enumerate(ranks)) {
      const int64_t place = int64_t(index) * accumulate + micro;
      if (auto state = rank.states.find("micro"); state != rank.states.end())
        state->second.integers[0] = place;
      for (train::InputOp input : inputs(EntryKind::micro_step))
        rank.microColumns.insert_or_assign(input.getColumn().str(),
                                           draw(input, input.getResult().getType(), step, place));
    }
  }

  /// Writes a rank's samples of the whole step: its micro-batches, one after the other.
  void fillStep(int64_t step) {
    for (auto [index, rank] : llvm::enumerate(ranks))
      for (train::InputOp input : inputs(EntryKind::begin_step)) {
        auto type = cast<RankedTensorType>(input.getResult().getType());
        SmallVector<int64_t> shape(type.getShape());
        shape[0] /= accumulate;
        Tensor all(type);
        for (int64_t micro = 0, at = 0; micro < accumulate; ++micro) {
          Tensor part = draw(input, RankedTensorType::get(shape, type.getElementType()), step,
                             int64_t(index) * accumulate + micro);
          for (int64_t i = 0; i < part.elements(); ++i)
            all.copyElement(at++, part, i);
        }
        rank.stepColumns.insert_or_assign(input.getColumn().str(), std::move(all));
      }
  }

  SmallVector<train::InputOp> inputs(EntryKind kind) {
    train::EntryOp entry = find(kind);
    return entry ? llvm::to_vector(entry.getBody().getOps<train::InputOp>()) : SmallVector<train::InputOp>();
  }

  /// Values of a column that depend only on its name and on the index of the micro-batch.
  static Tensor draw(train::InputOp input, Type type, int64_t step, int64_t place) {
    auto tensor = cast<RankedTensorType>(type);
    const unsigned number = unsigned(llvm::xxh3_64bits(input.getColumn())) + unsigned(step * 1000 + place);
    if (isa<FloatType>(tensor.getElementType()))
      return check::drawReals(tensor, -1, 1, number);
    return check::drawIntegers(tensor, 0, input.getLimit() ? int64_t(input.getLimit()) : 2, number);
  }

  ModuleOp module;
  int64_t accumulate;
  SmallVector<EntryMemory> ranks;
};

} // namespace

/// Compiles the program for `ranks` ranks with `accumulate` micro-batches each; null after an error.
static OwningOpRef<ModuleOp> compile(ModuleOp model, int64_t ranks, int64_t accumulate,
                                     std::vector<train::GivenSetting> further = {}) {
  OwningOpRef<ModuleOp> module = model.clone();
  CompileOptions options;
  options.settings = {{"ranks", std::to_string(ranks)}, {"accumulate", std::to_string(accumulate)}};
  options.settings.insert(options.settings.end(), further.begin(), further.end());
  options.compileTo = Phase::Scheduled;
  return succeeded(runPhases(*module, options)) ? std::move(module) : nullptr;
}

/// Interprets `module`; nothing after an error.
static std::optional<Training> interpret(ModuleOp module) {
  Training training(module, *module.getOps<train::ProgramOp>().begin());
  return succeeded(training.run()) ? std::optional(std::move(training)) : std::nullopt;
}

/// Bitwise comparison, NaNs included.
static bool sameBits(ArrayRef<double> a, ArrayRef<double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// States after a step, by their names in models and checkpoints.
class LogicalStates {
public:
  LogicalStates(ModuleOp module, ArrayRef<EntryMemory> ranks) : mesh(dist::meshOf(module)), ranks(ranks) {
    for (auto state : module.getOps<train::StateOp>())
      if (isShared(state))
        add(state);
  }

  const NamedTensors &tensors() const { return named; }
  /// States that ranks hold redundantly (whole, or the same shard) with different bits.
  ArrayRef<std::string> differing() const { return different; }

private:
  /// Shape of the groups of ranks that hold shards of the state.
  RankGroupShape shapeOf(train::StateOp state) const {
    return dist::isSharded(state) ? dist::shapeOf(mesh, dist::placementOf(state).axesOfDim(0))
                                  : mesh.shapeOf({});
  }

  void add(train::StateOp state) {
    const RankGroupShape shape = shapeOf(state);
    const std::string name = state.getSymName().str();
    const Tensor &first = ranks.front().states.find(name)->second;
    if (state.getMembers())
      addMembers(state);
    else
      named.emplace(name, first);
    for (auto [index, rank] : llvm::enumerate(ranks)) {
      const EntryMemory &other = ranks[shape.placeOf(uint32_t(index)) * shape.stride];
      if (!sameBits(rank.states.find(name)->second.reals, other.states.find(name)->second.reals))
        different.push_back(name);
    }
  }

  /// Adds the members of a flat state, whole or assembled from the ranks' shards.
  void addMembers(train::StateOp state) {
    std::vector<double> flat;
    const RankGroupShape shape = shapeOf(state);
    for (uint32_t place = 0; place < shape.members; ++place)
      llvm::append_range(flat,
                         ranks[place * shape.stride].states.find(state.getSymName().str())->second.reals);
    for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>()) {
      Tensor tensor(member.getType());
      std::copy_n(flat.begin() + member.getOffset(), tensor.elements(), tensor.reals.begin());
      named.emplace(member.getName().str(), std::move(tensor));
    }
  }

  /// Whether ranks must hold equal values. Gradients are excluded: they are sums over a rank's own samples,
  /// or shards.
  static bool isShared(train::StateOp state) {
    return state.getRole() == train::StateRole::parameter || state.getRole() == train::StateRole::optimizer ||
           (state.getScalar() && directionOf(*state.getScalar()) == ScalarDirection::from_device);
  }

  Mesh mesh;
  ArrayRef<EntryMemory> ranks;
  NamedTensors named;
  std::vector<std::string> different;
};

FailureOr<check::Outcome> check::checkRanks(ModuleOp model, int64_t ranks, double bound) {
  auto programs = model.getOps<train::ProgramOp>();
  if (programs.empty())
    return model.emitError("has no train.program to divide over ranks");
  const int64_t accumulate = train::kAccumulate.of(*programs.begin());
  OwningOpRef<ModuleOp> divided = compile(model, ranks, accumulate),
                        alone = compile(model, 1, accumulate * ranks, {{"activation_checkpointing", "none"}});
  if (!divided || !alone)
    return failure();
  auto many = interpret(*divided), one = interpret(*alone);
  if (!many || !one)
    return failure();
  const auto sharding = train::shardingOf(*divided->getOps<train::ProgramOp>().begin());
  const LogicalStates states(*divided, many->memories()), expected(*alone, one->memories());
  for (const std::string &name : states.differing())
    return divided->emitError("state @") << name << " differs between ranks at the end of a step";
  Outcome outcome{0, sharding.reproducibleOverRanks ? 0 : bound};
  for (const auto &[name, tensor] : expected.tensors()) {
    auto found = states.tensors().find(name);
    if (found == states.tensors().end())
      return divided->emitError("state @") << name << " is missing on several ranks";
    outcome.error = std::max(outcome.error, tensorError(found->second, tensor, 1e-6));
  }
  return outcome;
}
