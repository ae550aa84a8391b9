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

ScheduleAttr ScheduleAttr::standard(MLIRContext *context, StringRef kind) {
  SmallVector<double> numbers;
  for (const ScheduleNumber &number : formulaOf(*findSchedule(kind)).numbers)
    numbers.push_back(number.standard);
  return get(context, kind, /*total=*/0, DenseF64ArrayAttr::get(context, numbers));
}

double ScheduleAttr::number(StringRef word) const {
  return numberOf(formulaOf(*findSchedule(getKind())), getNumbers().asArrayRef(), word);
}

/// The words of a schedule's numbers and, for one that ends, `total`, and the values that they set.
static SmallVector<NumberField> scheduleSettings(const ScheduleFormula &schedule,
                                                 MutableArrayRef<double> values, double &total) {
  SmallVector<NumberField> settings;
  for (auto [number, value] : llvm::zip(schedule.numbers, values))
    settings.push_back({number.word, &value});
  if (schedule.ends)
    settings.push_back({"total", &total});
  return settings;
}

ParseResult trainc::train::parseSchedule(AsmParser &parser, ScheduleAttr &schedule) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  const std::optional<fb::ScheduleKind> kind = findSchedule(word);
  if (!kind)
    return parser.emitError(loc) << "schedule: " << describeUnknownWord(word, textsOf(kScheduleWords));
  const ScheduleFormula &formula = formulaOf(*kind);
  double total = 0;
  SmallVector<double> values(ScheduleAttr::standard(parser.getContext(), word).getNumbers().asArrayRef());
  SmallVector<NumberField> settings = scheduleSettings(formula, values, total);
  if (parseNumbers(parser, word, settings))
    return failure();
  const bool hasTotal =
      llvm::any_of(settings, [](NumberField &each) { return each.word == "total" && each.isSet; });
  if (!expectedOf(hasTotal ? ScheduleRange::Count : ScheduleRange::Steps, total).empty())
    return parser.emitError(loc) << "'total' must be a whole number of steps from 1 to " << kMaxScheduled
                                 << ", found " << formatNumber(total)
                                 << (total == 0 ? "; leave it out for the steps of the run" : "");
  schedule = ScheduleAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), word,
                                      int64_t(total), DenseF64ArrayAttr::get(parser.getContext(), values));
  return success(schedule != nullptr);
}

void trainc::train::printSchedule(AsmPrinter &printer, ScheduleAttr schedule) {
  double total = double(schedule.getTotal());
  SmallVector<double> values(schedule.getNumbers().asArrayRef());
  SmallVector<NumberField> settings =
      scheduleSettings(formulaOf(*findSchedule(schedule.getKind())), values, total);
  const ScheduleAttr standard = ScheduleAttr::standard(schedule.getContext(), schedule.getKind());
  for (NumberField &setting : settings)
    setting.isSet = *setting.value != standard.number(setting.word);
  printer << schedule.getKind();
  printNumbers(printer, settings);
}

/// Verifies rules that concern several numbers of a schedule.
static LogicalResult checkLengths(llvm::function_ref<InFlightDiagnostic()> emitError,
                                  const ScheduleFormula &formula, ArrayRef<double> numbers, int64_t total) {
  auto number = [&](std::string_view word) { return numberOf(formula, numbers, word); };
  for (auto [steps, ratio] : {std::pair("warmup", "warmup_ratio"), std::pair("decay", "decay_ratio")})
    if (number(steps) != 0 && number(ratio) != 0)
      return emitError() << "schedule: " << steps << " (steps) and " << ratio
                         << " (share of the total) set the same length; give one of them";
  if (number("warmup_ratio") == 1)
    return emitError() << "schedule: warmup_ratio must be below 1, so that steps are left after the warmup";
  if (const double shares = number("warmup_ratio") + number("decay_ratio"); shares > 1)
    return emitError() << "schedule: warmup_ratio and decay_ratio are more than the whole, "
                       << formatNumber(shares);
  auto length = [&](std::string_view steps, std::string_view ratio) {
    return std::max(int64_t(number(steps)), int64_t(std::ceil(number(ratio) * double(total))));
  };
  const int64_t warmup = length("warmup", "warmup_ratio"), decay = length("decay", "decay_ratio");
  if (total > 0 && warmup > total)
    return emitError() << "schedule: warmup of " << warmup << " steps does not fit into a total of " << total;
  if (total > 0 && warmup == total)
    return emitError() << "schedule: after a warmup of " << warmup << " steps, a total of " << total
                       << " leaves none in which the rate falls";
  if (total > 0 && warmup + decay > total)
    return emitError() << "schedule: a warmup of " << warmup << " steps and a decay of " << decay
                       << " do not fit into a total of " << total;
  return success();
}

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef kind,
                                   int64_t total, DenseF64ArrayAttr numbers) {
  const std::optional<fb::ScheduleKind> found = findSchedule(kind);
  if (!found)
    return emitError() << "unknown schedule '" << kind << "'";
  const ScheduleFormula &formula = formulaOf(*found);
  if (numbers.size() != int64_t(formula.numbers.size()))
    return emitError() << "schedule: '" << kind << "' has " << formula.numbers.size() << " numbers, found "
                       << numbers.size();
  for (auto [number, value] : llvm::zip(formula.numbers, numbers.asArrayRef()))
    if (std::string_view expected = expectedOf(number.range, value); !expected.empty())
      return emitError() << "schedule: '" << number.word << "' must be " << expected << ", found "
                         << formatNumber(value);
  if (total < 0 || total > kMaxScheduled)
    return emitError() << "schedule: total must lie between 0 and " << kMaxScheduled << ", found " << total;
  return checkLengths(emitError, formula, numbers, total);
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
