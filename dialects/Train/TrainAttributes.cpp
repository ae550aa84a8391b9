// Syntax of optimizers, schedules and parameter groups, in train.program and as separate attributes.
#include "dialects/NN/Syntax.h"
#include "dialects/Train/Limits.h"
#include "dialects/Train/Train.h"
#include "dialects/Train/TrainSyntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static FloatAttr f64(AsmParser &parser, double value) { return parser.getBuilder().getF64FloatAttr(value); }

// --- Optimizer ---

namespace {
/// Numbers of an optimizer; settings() returns those that its kind has.
struct OptimizerNumbers {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0, momentum = 0;

  SmallVector<NumberField> settings(OptimizerKind kind) {
    if (kind == OptimizerKind::sgd)
      return {{"lr", &lr}, {"momentum", &momentum}, {"weight_decay", &weightDecay}};
    return {{"lr", &lr}, {"beta1", &beta1}, {"beta2", &beta2}, {"eps", &eps}, {"weight_decay", &weightDecay}};
  }
};
} // namespace

ParseResult trainc::train::parseOptimizer(AsmParser &parser, OptimizerAttr &optimizer) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<OptimizerKind> kind = symbolizeOptimizerKind(word);
  if (!kind)
    return parser.emitError(loc) << "unknown optimizer '" << word << "'; expected adamw, adam or sgd";
  OptimizerNumbers n;
  SmallVector<NumberField> settings = n.settings(*kind);
  if (parseNumbers(parser, word, settings))
    return failure();
  optimizer =
      OptimizerAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *kind,
                                f64(parser, n.lr), f64(parser, n.beta1), f64(parser, n.beta2),
                                f64(parser, n.eps), f64(parser, n.weightDecay), f64(parser, n.momentum));
  return success(optimizer != nullptr);
}

bool OptimizerAttr::hasMoments() const {
  return getKind() != OptimizerKind::sgd || getMomentum().getValueAsDouble() != 0;
}

void trainc::train::printOptimizer(AsmPrinter &printer, OptimizerAttr optimizer) {
  const OptimizerNumbers defaults;
  OptimizerNumbers n{
      optimizer.getLr().getValueAsDouble(),          optimizer.getBeta1().getValueAsDouble(),
      optimizer.getBeta2().getValueAsDouble(),       optimizer.getEps().getValueAsDouble(),
      optimizer.getWeightDecay().getValueAsDouble(), optimizer.getMomentum().getValueAsDouble()};
  OptimizerNumbers unset = defaults;
  SmallVector<NumberField> settings = n.settings(optimizer.getKind());
  for (auto [setting, standard] : llvm::zip(settings, unset.settings(optimizer.getKind())))
    setting.isSet = setting.word == "lr" || *setting.value != *standard.value;
  printer << stringifyOptimizerKind(optimizer.getKind());
  printNumbers(printer, settings);
}

static bool notNegative(FloatAttr number) {
  return number.getValueAsDouble() >= 0 && std::isfinite(inF32(number.getValueAsDouble()));
}

LogicalResult OptimizerAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, OptimizerKind,
                                    FloatAttr lr, FloatAttr beta1, FloatAttr beta2, FloatAttr eps,
                                    FloatAttr weightDecay, FloatAttr momentum) {
  auto isAverage = [](FloatAttr x) { return x.getValueAsDouble() >= 0 && inF32(x.getValueAsDouble()) < 1; };
  auto positive = [](FloatAttr x) { return notNegative(x) && inF32(x.getValueAsDouble()) > 0; };
  auto bad = [&](const char *word, FloatAttr found, const char *expected) {
    return emitError() << "optimizer: " << word << " must be " << expected << ", found "
                       << formatInF32(found.getValueAsDouble());
  };
  if (!notNegative(lr))
    return bad("lr", lr, "0 or more");
  if (!isAverage(beta1))
    return bad("beta1", beta1, "at least 0 and below 1");
  if (!isAverage(beta2))
    return bad("beta2", beta2, "at least 0 and below 1");
  if (!positive(eps))
    return bad("eps", eps, "above 0");
  if (!notNegative(weightDecay))
    return bad("weight_decay", weightDecay, "0 or more");
  if (!isAverage(momentum))
    return bad("momentum", momentum, "at least 0 and below 1");
  return success();
}

// --- Schedule ---

/// Converts a schedule's number to a whole number of steps.
static ParseResult toSteps(AsmParser &parser, SMLoc loc, StringRef word, double number, int64_t &steps) {
  if (!(number >= 0 && number <= double(kMaxScheduled) && number == std::floor(number)))
    return parser.emitError(loc) << "'" << word << "' must be a whole number of steps up to " << kMaxScheduled
                                 << ", found " << formatNumber(number);
  steps = int64_t(number);
  return success();
}

static SmallVector<NumberField> scheduleSettings(ScheduleKind kind, double &warmup, double &total,
                                                 double &minimum) {
  if (kind == ScheduleKind::constant)
    return {{"warmup", &warmup}};
  return {{"warmup", &warmup}, {"total", &total}, {"minimum", &minimum}};
}

ParseResult trainc::train::parseSchedule(AsmParser &parser, ScheduleAttr &schedule) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ScheduleKind> kind = symbolizeScheduleKind(word);
  if (!kind)
    return parser.emitError(loc) << "unknown schedule '" << word << "'; expected constant, linear or cosine";
  double warmup = 0, total = 0, minimum = 0;
  int64_t warmupSteps = 0, totalSteps = 0;
  SmallVector<NumberField> settings = scheduleSettings(*kind, warmup, total, minimum);
  if (parseNumbers(parser, word, settings) || toSteps(parser, loc, "warmup", warmup, warmupSteps) ||
      toSteps(parser, loc, "total", total, totalSteps))
    return failure();
  schedule = ScheduleAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *kind,
                                      warmupSteps, totalSteps, f64(parser, minimum));
  return success(schedule != nullptr);
}

void trainc::train::printSchedule(AsmPrinter &printer, ScheduleAttr schedule) {
  double warmup = double(schedule.getWarmup()), total = double(schedule.getTotal());
  double minimum = schedule.getMinimum().getValueAsDouble();
  SmallVector<NumberField> settings = scheduleSettings(schedule.getKind(), warmup, total, minimum);
  for (NumberField &setting : settings)
    setting.isSet = *setting.value != 0;
  printer << stringifyScheduleKind(schedule.getKind());
  printNumbers(printer, settings);
}

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ScheduleKind,
                                   int64_t warmup, int64_t total, FloatAttr minimum) {
  if (warmup < 0 || total < 0 || warmup > kMaxScheduled || total > kMaxScheduled)
    return emitError() << "schedule: steps must lie between 0 and " << kMaxScheduled << ", found warmup "
                       << warmup << " and total " << total;
  if (total > 0 && warmup > total)
    return emitError() << "schedule: warmup of " << warmup << " steps does not fit into a total of " << total;
  if (!(minimum.getValueAsDouble() >= 0))
    return emitError() << "schedule: minimum must be 0 or more, found "
                       << formatNumber(minimum.getValueAsDouble());
  return success();
}

// --- Group ---

ParseResult trainc::train::parseGroup(AsmParser &parser, GroupAttr &group) {
  SMLoc loc = parser.getCurrentLocation();
  std::string pattern;
  if (parser.parseString(&pattern))
    return failure();
  auto error = [&] { return parser.emitError(loc) << "group \"" << pattern << "\""; };
  FloatAttr scale, decay;
  BoolAttr frozen;
  StringRef word;
  while (succeeded(parser.parseOptionalKeyword(&word, {"lr_scale", "weight_decay", "frozen", "trained"}))) {
    bool isNumber = word == "lr_scale" || word == "weight_decay";
    FloatAttr &number = word == "lr_scale" ? scale : decay;
    if (!isNumber && frozen)
      return error() << ": 'frozen' or 'trained' is given once";
    if (isNumber && number)
      return error() << ": '" << word << "' is given twice";
    double value = 0;
    if (isNumber && parseNumber(parser, value))
      return failure();
    if (isNumber)
      number = f64(parser, value);
    else
      frozen = parser.getBuilder().getBoolAttr(word == "frozen");
  }
  if (!frozen && !scale && !decay)
    return error() << " sets nothing; expected lr_scale, weight_decay, frozen or trained";
  group = GroupAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                StringRef(pattern), scale, decay, frozen);
  return success(group != nullptr);
}

void trainc::train::printGroup(AsmPrinter &printer, GroupAttr group) {
  printer.printString(group.getPattern());
  if (BoolAttr frozen = group.getFrozen())
    printer << (frozen.getValue() ? " frozen" : " trained");
  auto print = [&](StringRef word, FloatAttr number) {
    if (!number)
      return;
    printer << " " << word << " ";
    printNumber(printer, number.getValueAsDouble());
  };
  print("lr_scale", group.getLrScale());
  print("weight_decay", group.getWeightDecay());
}

LogicalResult GroupAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef pattern,
                                FloatAttr scale, FloatAttr decay, BoolAttr frozen) {
  if (pattern.empty())
    return emitError() << "group: the pattern of names is empty";
  for (FloatAttr number : {scale, decay})
    if (number && !notNegative(number))
      return emitError() << "group \"" << pattern << "\": lr_scale and weight_decay must be 0 or more, found "
                         << formatInF32(number.getValueAsDouble());
  if (frozen && frozen.getValue() && (scale || decay))
    return emitError() << "group \"" << pattern
                       << "\" is frozen, so lr_scale and weight_decay have no effect";
  return success();
}

// --- The attributes alone: `#train.optimizer<adamw(lr 6e-4)>` ---

template <typename Attr>
static Attribute parseBracketed(AsmParser &parser, ParseResult (*parse)(AsmParser &, Attr &)) {
  Attr attribute;
  if (parser.parseLess() || parse(parser, attribute) || parser.parseGreater())
    return {};
  return attribute;
}

template <typename Attr>
static void printBracketed(AsmPrinter &printer, Attr attribute, void (*print)(AsmPrinter &, Attr)) {
  printer << "<";
  print(printer, attribute);
  printer << ">";
}

Attribute OptimizerAttr::parse(AsmParser &parser, Type) { return parseBracketed(parser, parseOptimizer); }
void OptimizerAttr::print(AsmPrinter &printer) const { printBracketed(printer, *this, printOptimizer); }
Attribute ScheduleAttr::parse(AsmParser &parser, Type) { return parseBracketed(parser, parseSchedule); }
void ScheduleAttr::print(AsmPrinter &printer) const { printBracketed(printer, *this, printSchedule); }
Attribute GroupAttr::parse(AsmParser &parser, Type) { return parseBracketed(parser, parseGroup); }
void GroupAttr::print(AsmPrinter &printer) const { printBracketed(printer, *this, printGroup); }
