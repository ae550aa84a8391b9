// The setting `sharding` of train.program.
#include "dialects/Train/Sharding.h"

#include "dialects/Train/Lists.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/TrainSyntax.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

// --- Syntax ---

/// Returns the value; a list without the blanks around its elements. The verifier reports errors.
static Attribute tidied(StringRef name, Attribute value) {
  const ProgramWord *word = findProgramWord(name);
  auto text = dyn_cast<StringAttr>(value);
  if (!text || !word || !isList(*word))
    return value;
  std::string list = text.str();
  return tidyList(*word, list).empty() ? StringAttr::get(value.getContext(), list) : value;
}

/// Parses `(wrap = "layer", prefetch = 2)`.
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  const SMLoc loc = parser.getCurrentLocation();
  NamedAttrList words;
  const ParseResult parsed =
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        const SMLoc place = parser.getCurrentLocation();
        StringRef word;
        Attribute value;
        if (parser.parseKeyword(&word) || parser.parseEqual() || parser.parseAttribute(value))
          return failure();
        if (words.get(word))
          return parser.emitError(place) << "'" << word << "' is given twice";
        words.set(word, tidied(word, value));
        return success();
      });
  if (parsed)
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    words.getDictionary(parser.getContext()));
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "(";
  llvm::interleaveComma(getWords(), printer, [&](NamedAttribute word) {
    printer << word.getName().strref() << " = ";
    if (auto number = dyn_cast<IntegerAttr>(word.getValue()); number && !isa<BoolAttr>(word.getValue()))
      printer << number.getInt();
    else
      printer << word.getValue();
  });
  printer << ")";
}

ParseResult trainc::train::parseSharding(AsmParser &parser, ShardingAttr &sharding) {
  sharding = dyn_cast_or_null<ShardingAttr>(ShardingAttr::parse(parser, Type()));
  return success(bool(sharding));
}

// --- Values ---

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult verifyNumber(EmitError error, const ProgramWord &number, Attribute value) {
  auto given = dyn_cast<IntegerAttr>(value);
  if (given && !given.getType().isSignlessInteger(64))
    given = nullptr; // a bool, or an integer of another type
  if (given && number.min <= given.getInt() && given.getInt() <= number.max)
    return success();
  InFlightDiagnostic message = error();
  message << StringRef(number.word) << ": expected a number ";
  if (number.max == INT64_MAX)
    message << "of " << number.min << " or more";
  else
    message << "between " << number.min << " and " << number.max;
  message << ", found ";
  return given ? message << given.getInt() : message << value;
}

/// Verifies the value of `wrap`.
static LogicalResult verifyWrap(EmitError error, const ProgramWord &wrap, Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  if (!text)
    return error() << StringRef(wrap.word) << ": expected " << StringRef(kExpectedWrap) << ", found "
                   << value;
  std::string list = text.str();
  const std::string problem = tidyList(wrap, list);
  return problem.empty() ? success() : error() << StringRef(wrap.word) << ": " << problem;
}

/// Verifies a quoted choice, such as "micro_step" or "step".
static LogicalResult verifyQuoted(EmitError error, const ProgramWord &word, Attribute value) {
  SmallVector<std::string> values;
  auto text = dyn_cast<StringAttr>(value);
  for (StringRef choice : choicesOf(word)) {
    if (text && text.getValue() == choice)
      return success();
    values.push_back(("\"" + choice + "\"").str());
  }
  return error() << StringRef(word.word) << ": expected " << llvm::join(values, " or ") << ", found "
                 << value;
}

static LogicalResult verifyWord(EmitError error, StringRef name, Attribute value) {
  const ProgramWord *word = findProgramWord(name);
  if (!word || !word->ofSharding) {
    SmallVector<StringRef> words;
    for (const ProgramWord &each : kProgramWords)
      if (each.ofSharding)
        words.push_back(each.word);
    return error() << "unknown word '" << name << "'; expected " << llvm::join(words, ", ");
  }
  switch (word->kind) {
  case ValueKind::Wrap:
    return verifyWrap(error, *word, value);
  case ValueKind::Truth:
    return isa<BoolAttr>(value) ? success() : error() << name << ": expected true or false, found " << value;
  case ValueKind::Choice:
    return verifyQuoted(error, *word, value);
  case ValueKind::Words:
  case ValueKind::Names:
  case ValueKind::Shares:
    break; // no word of `sharding` has this kind
  case ValueKind::Number:
  case ValueKind::Bytes:
    return verifyNumber(error, *word, value);
  }
  llvm_unreachable("unknown kind of value");
}

/// Whether the word is given with the value `text`.
static bool says(Attribute word, StringRef text) {
  auto given = dyn_cast_or_null<StringAttr>(word);
  return given && given.getValue() == text;
}

LogicalResult ShardingAttr::verify(EmitError error, DictionaryAttr words) {
  for (NamedAttribute word : words)
    if (failed(verifyWord(error, word.getName(), word.getValue())))
      return failure();
  if (words.get("reshard_after_forward") == BoolAttr::get(words.getContext(), false) &&
      words.get("max_reuse_distance"))
    return error()
           << "reshard_after_forward = false (--reshard-after-forward) keeps all gathered parameters, "
              "max_reuse_distance (--max-reuse-distance) those that are reused soon; leave one of them "
              "out";
  if (says(words.get("sync"), "micro_step") && says(words.get("reproducible"), "ranks"))
    return error() << "reproducible = \"ranks\" (--reproducible) sums gradients over ranks once a step, but "
                      "sync (--sync-gradients) is \"micro_step\"; leave sync out, or make it \"step\"";
  return success();
}

// --- Defaults ---

/// Returns the shapes of the parameters in a state, which holds one or several.
static SmallVector<ArrayRef<int64_t>> shapesIn(StateOp state) {
  if (ArrayAttr members = state.getMembersAttr())
    return llvm::map_to_vector(members.getAsRange<MemberAttr>(), [](MemberAttr member) {
      return cast<RankedTensorType>(member.getType()).getShape();
    });
  return {cast<RankedTensorType>(state.getType()).getShape()};
}

int64_t trainc::train::modelWidth(ModuleOp module) {
  std::map<int64_t, int64_t> parametersWith;
  for (auto state : module.getOps<StateOp>())
    if (state.getRole() == StateRole::parameter)
      for (ArrayRef<int64_t> shape : shapesIn(state))
        for (size_t dim = 0; dim < shape.size(); ++dim)
          if (!llvm::is_contained(shape.take_front(dim), shape[dim]))
            ++parametersWith[shape[dim]];
  int64_t width = 1, most = 0;
  for (auto [size, parameters] : parametersWith)
    if (parameters >= most) {
      width = size;
      most = parameters;
    }
  return width;
}

ShardingSettings trainc::train::shardingOf(ProgramOp program) {
  auto given = program.getShardingAttr();
  auto wordOf = [&](StringRef word) { return given ? given.getWords().get(word) : Attribute(); };
  auto number = [&](StringRef word, int64_t otherwise) {
    auto value = dyn_cast_or_null<IntegerAttr>(wordOf(word));
    return value ? value.getInt() : otherwise;
  };
  const auto ranks = int64_t(program.getRanks()), width = modelWidth(program->getParentOfType<ModuleOp>());
  ShardingSettings settings;
  if (auto wrap = dyn_cast_or_null<StringAttr>(wordOf("wrap")))
    settings.wrap = wrap.getValue();
  settings.shardRanks = ranks > 1 ? number("hybrid_shard", ranks) : 1;
  settings.reproducibleOverRanks = says(wordOf("reproducible"), "ranks");
  const bool syncs = wordOf("sync") ? says(wordOf("sync"), "micro_step")
                                    : program.getZeroStage() > 1 && !settings.reproducibleOverRanks;
  settings.syncEveryMicroStep = ranks > 1 && syncs;
  settings.reduceBucket = number("reduce_bucket", width * width);
  settings.gatherBucket = number("gather_bucket", width * width);
  settings.persistBelow = number("persist_below", 10 * width);
  if (auto reshard = dyn_cast_or_null<BoolAttr>(wordOf("reshard_after_forward")))
    settings.reshardAfterForward = reshard.getValue();
  settings.maxReuseDistance = number("max_reuse_distance", settings.maxReuseDistance);
  settings.prefetch = number("prefetch", settings.prefetch);
  settings.maxLive = number("max_live", settings.maxLive);
  settings.gathersInFlight = number("gathers_in_flight", settings.gathersInFlight);
  return settings;
}

DictionaryAttr trainc::train::wordsOfSharding(ProgramOp program) {
  const ShardingSettings settings = shardingOf(program);
  Builder builder(program.getContext());
  NamedAttrList words;
  auto set = [&](StringRef word, int64_t value) { words.set(word, builder.getI64IntegerAttr(value)); };
  set("hybrid_shard", settings.shardRanks);
  set("reduce_bucket", settings.reduceBucket);
  set("gather_bucket", settings.gatherBucket);
  words.set("wrap", builder.getStringAttr(settings.wrap));
  words.set("sync", builder.getStringAttr(settings.syncEveryMicroStep ? "micro_step" : "step"));
  words.set("reproducible", builder.getStringAttr(settings.reproducibleOverRanks ? "ranks" : "plan"));
  set("persist_below", settings.persistBelow);
  set("prefetch", settings.prefetch);
  set("gathers_in_flight", settings.gathersInFlight);
  if (settings.maxLive < INT64_MAX)
    set("max_live", settings.maxLive);
  words.set("reshard_after_forward", builder.getBoolAttr(settings.reshardAfterForward));
  set("max_reuse_distance", settings.maxReuseDistance);
  return words.getDictionary(program.getContext());
}

DictionaryAttr trainc::train::describeSharding(ProgramOp program) {
  Builder builder(program.getContext());
  NamedAttrList words(wordsOfSharding(program));
  if (program.getZeroStage() < 3)
    for (StringRef word : {"persist_below", "prefetch", "gathers_in_flight", "max_live",
                           "reshard_after_forward", "max_reuse_distance"})
      words.erase(word);
  else if (!shardingOf(program).reshardAfterForward)
    words.erase("max_reuse_distance");
  words.set("ranks", builder.getI64IntegerAttr(int64_t(program.getRanks())));
  words.set("zero_stage", builder.getI64IntegerAttr(int64_t(program.getZeroStage())));
  return words.getDictionary(program.getContext());
}

bool trainc::train::shardsUpdates(ProgramOp program) {
  return program.getRanks() > 1 && program.getZeroStage() >= 1;
}

bool trainc::train::hasFlatStates(ProgramOp program) {
  return program.getRanks() > 1 || shardingOf(program).reproducibleOverRanks ||
         precisionOf(program).roundsAtRandom();
}
