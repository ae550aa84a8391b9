// Syntax of optimizers, schedules and parameter groups, in train.program and as separate attributes.
#include "base/nearest_word.h"
#include "dialects/NN/Syntax.h"
#include "dialects/Train/Optimizers.h"
#include "dialects/Train/ProgramLines.h"
#include "dialects/Train/Train.h"
#include "dialects/Train/TrainSyntax.h"
#include "plan/facts/schedules.h"
#include "plan/settings/limits.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static FloatAttr f64(AsmParser &parser, double value) { return parser.getBuilder().getF64FloatAttr(value); }

template <typename Words> static std::vector<std::string> textsOf(const Words &words) {
  return {std::begin(words), std::end(words)};
}

// --- Optimizer ---

/// The words of an optimizer's numbers, and the values that they set.
static SmallVector<NumberField> optimizerSettings(const OptimizerKind &kind, SmallVector<double> &values) {
  SmallVector<NumberField> settings;
  for (auto [number, value] : llvm::zip(kind.numbers, values))
    settings.push_back({number.word, &value});
  return settings;
}

ParseResult trainc::train::parseOptimizer(AsmParser &parser, OptimizerAttr &optimizer) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  const OptimizerKind *kind = findOptimizerKind(word);
  if (!kind)
    return parser.emitError(loc) << "optimizer: " << describeUnknownWord(word, textsOf(kOptimizerWords));
  auto values = llvm::map_to_vector(kind->numbers, [](const OptimizerNumber &n) { return n.standard; });
  SmallVector<NumberField> settings = optimizerSettings(*kind, values);
  if (parseNumbers(parser, word, settings))
    return failure();
  NamedAttrList numbers;
  for (const NumberField &setting : settings)
    numbers.append(setting.word, f64(parser, *setting.value));
  optimizer = OptimizerAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), word,
                                        numbers.getDictionary(parser.getContext()));
  return success(optimizer != nullptr);
}

double OptimizerAttr::number(StringRef word) const {
  auto number = getNumbers().getAs<FloatAttr>(word);
  return number ? number.getValueAsDouble() : 0;
}

bool OptimizerAttr::hasMoments() const {
  StringRef moments = findOptimizerKind(getKind())->moments;
  return moments.empty() || number(moments) != 0;
}

void trainc::train::printOptimizer(AsmPrinter &printer, OptimizerAttr optimizer) {
  const OptimizerKind &kind = *findOptimizerKind(optimizer.getKind());
  auto values = llvm::map_to_vector(
      kind.numbers, [&](const OptimizerNumber &number) { return optimizer.number(number.word); });
  SmallVector<NumberField> settings = optimizerSettings(kind, values);
  for (auto [setting, number] : llvm::zip(settings, kind.numbers))
    setting.isSet = setting.word == "lr" || *setting.value != number.standard;
  printer << kind.word;
  printNumbers(printer, settings);
}

/// Says which values a number may have as f32, or nothing if `value` is one of them.
static StringRef expectation(NumberRange range, double value) {
  if (!std::isfinite(inF32(value)))
    return "finite";
  switch (range) {
  case NumberRange::NotNegative:
    return value >= 0 ? "" : "0 or more";
  case NumberRange::Average:
    return value >= 0 && inF32(value) < 1 ? "" : "at least 0 and below 1";
  case NumberRange::Positive:
    return inF32(value) > 0 ? "" : "above 0";
  }
  llvm_unreachable("unknown range");
}

LogicalResult OptimizerAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef word,
                                    DictionaryAttr numbers) {
  const OptimizerKind *kind = findOptimizerKind(word);
  if (!kind)
    return emitError() << "unknown optimizer '" << word << "'";
  for (const OptimizerNumber &number : kind->numbers) {
    auto found = numbers.getAs<FloatAttr>(number.word);
    if (!found)
      return emitError() << "optimizer: " << number.word << " is missing";
    double value = found.getValueAsDouble();
    if (StringRef expected = expectation(number.range, value); !expected.empty())
      return emitError() << "optimizer: " << number.word << " must be " << expected << ", found "
                         << formatInF32(value);
  }
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

static SmallVector<NumberField> scheduleSettings(const ScheduleFormula &schedule, double &warmup,
                                                 double &total, double &minimum) {
  if (!schedule.decays)
    return {{"warmup", &warmup}};
  return {{"warmup", &warmup}, {"total", &total}, {"minimum", &minimum}};
}

ParseResult trainc::train::parseSchedule(AsmParser &parser, ScheduleAttr &schedule) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  const std::optional<fb::ScheduleKind> kind = findSchedule(word);
  if (!kind)
    return parser.emitError(loc) << "schedule: " << describeUnknownWord(word, textsOf(kScheduleWords));
  double warmup = 0, total = 0, minimum = 0;
  int64_t warmupSteps = 0, totalSteps = 0;
  SmallVector<NumberField> settings = scheduleSettings(formulaOf(*kind), warmup, total, minimum);
  if (parseNumbers(parser, word, settings) || toSteps(parser, loc, "warmup", warmup, warmupSteps) ||
      toSteps(parser, loc, "total", total, totalSteps))
    return failure();
  if (llvm::any_of(settings, [](NumberField &each) { return each.word == "total" && each.isSet; }) &&
      totalSteps == 0)
    return parser.emitError(loc) << "'total' must be a whole number of steps from 1 to " << kMaxScheduled
                                 << ", found 0; leave it out for the steps of the run";
  schedule = ScheduleAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), word,
                                      warmupSteps, totalSteps, f64(parser, minimum));
  return success(schedule != nullptr);
}

void trainc::train::printSchedule(AsmPrinter &printer, ScheduleAttr schedule) {
  double warmup = double(schedule.getWarmup()), total = double(schedule.getTotal());
  double minimum = schedule.getMinimum().getValueAsDouble();
  SmallVector<NumberField> settings =
      scheduleSettings(formulaOf(*findSchedule(schedule.getKind())), warmup, total, minimum);
  for (NumberField &setting : settings)
    setting.isSet = *setting.value != 0;
  printer << schedule.getKind();
  printNumbers(printer, settings);
}

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef kind,
                                   int64_t warmup, int64_t total, FloatAttr minimum) {
  if (!findSchedule(kind))
    return emitError() << "unknown schedule '" << kind << "'";
  if (warmup < 0 || total < 0 || warmup > kMaxScheduled || total > kMaxScheduled)
    return emitError() << "schedule: steps must lie between 0 and " << kMaxScheduled << ", found warmup "
                       << warmup << " and total " << total;
  if (total > 0 && warmup > total)
    return emitError() << "schedule: warmup of " << warmup << " steps does not fit into a total of " << total;
  if (total > 0 && warmup == total)
    return emitError() << "schedule: after a warmup of " << warmup << " steps, a total of " << total
                       << " leaves none in which the rate falls";
  const double lowest = minimum.getValueAsDouble();
  if (StringRef expected = expectation(NumberRange::NotNegative, lowest); !expected.empty())
    return emitError() << "schedule: minimum must be " << expected << ", found " << formatInF32(lowest);
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
    if (const StringRef expected =
            number ? expectation(NumberRange::NotNegative, number.getValueAsDouble()) : StringRef();
        !expected.empty())
      return emitError() << "group \"" << pattern << "\": lr_scale and weight_decay must be " << expected
                         << ", found " << formatInF32(number.getValueAsDouble());
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
