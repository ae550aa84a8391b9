// Random programs: their plans on one rank and on several, compared with the reference interpreter.
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/Pipeline.h"
#include "test/programs/architecture.h"
#include "test/programs/check.h"
#include "test/programs/generator.h"
#include "test/programs/mutation.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>

using namespace trainc;
using namespace trainc::programs;

namespace cl = llvm::cl;

static cl::OptionCategory category("Programs");
static cl::opt<unsigned> firstSeed("first-seed", cl::desc("Of the first program; the others count up"),
                                   cl::cat(category));
static cl::opt<unsigned> programCount("programs", cl::init(50), cl::desc("How many (50)"), cl::cat(category));
static cl::opt<double> seconds("seconds", cl::desc("Instead, as many as fit into this time"),
                               cl::cat(category));
static cl::opt<bool> print("print", cl::desc("Print every program"), cl::cat(category));
static cl::opt<bool> allOps("all-ops", cl::desc("Fail unless every op of the dialect was part of a program"),
                            cl::cat(category));

static cl::opt<unsigned>
    faultCount("faults",
               cl::desc("Instead, break the compiler in this many places of each kind, and "
                        "fail unless some of each kind are found"),
               cl::cat(category));

static cl::list<std::string> files(cl::Positional,
                                   cl::desc("[FILE.mlir...]: programs to change, besides random ones"),
                                   cl::cat(category));

namespace {

/// The command line. The linker that makes kernels' images resets LLVM's options to their defaults.
struct Options {
  unsigned first = firstSeed, count = programCount, faults = faultCount;
  double time = seconds;
  bool shows = print, needsAll = allOps;
  std::vector<std::string> paths = files;
};

/// Statistics of a run.
struct Counts {
  unsigned programs = 0, illegal = 0, unstable = 0, wrong = 0;
  std::map<std::string, unsigned> ops; ///< programs that hold each op

  void addOps(const std::string &text, const std::vector<std::string> &names) {
    for (const std::string &name : names)
      ops[name] += text.find(name + " ") != std::string::npos ? 1 : 0;
  }
};

void report(mlir::MLIRContext &context, unsigned seed, const std::string &text, const Way &way,
            const Verdict &verdict) {
  fmt::print("seed {}: WRONG, compiled with{}\n{}", seed, way.text.empty() ? " no option" : way.text,
             verdict.what);
  const std::string smallest = reduceProgram(context, text, way, seed, verdict.kind);
  fmt::print("reduced:\n{}{}\n", smallest, checkProgram(context, smallest, way, seed).what);
  std::fflush(stdout);
}

/// A random model, with few tensors if they are large, or one like common models.
std::string drawModel(mlir::MLIRContext &context, unsigned seed) {
  if (seed / 3 % 2 == 1)
    return drawArchitecture(seed);
  if (seed / 3 % 8 == 4)
    return Generator(context, seed, 40'000).build(int(2 + seed % 7));
  return Generator(context, seed, 700).build(int(4 + seed % 25));
}

/// A model drawn so, or, of two thirds, one made from it or from a file by small changes.
std::string drawProgram(mlir::MLIRContext &context, unsigned seed, llvm::ArrayRef<std::string> given) {
  if (seed % 3 == 1 && !given.empty())
    return mutateProgram(context, given[seed / 3 % given.size()], seed);
  const std::string text = drawModel(context, seed);
  return seed % 3 == 0 ? text : mutateProgram(context, text, seed);
}

Counts run(mlir::MLIRContext &context, const Options &options) {
  const auto start = std::chrono::steady_clock::now();
  auto isOver = [&](unsigned done) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return options.time > 0 ? passed.count() >= options.time : done >= options.count;
  };
  const std::vector<std::string> names = Generator::opNames(context);
  std::vector<std::string> given;
  for (const std::string &file : options.paths)
    if (const std::string text = readProgram(context, file); !text.empty())
      given.push_back(text);
  Counts counts;
  for (unsigned seed = options.first; !isOver(counts.programs); ++seed) {
    const std::string text = drawProgram(context, seed, given);
    if (text.empty())
      continue;
    // A change may leave a block without effect.
    const Way way = drawWay(seed, seed % 3 == 0 ? wrapUnits(text) : std::vector<std::string>());
    if (options.shows) {
      fmt::print("seed {}:{}\n{}\n", seed, way.text, text);
      std::fflush(stdout); // in case the compiler does not return
    }
    const Verdict verdict = checkProgram(context, text, way, seed);
    ++counts.programs;
    counts.illegal += verdict.kind == Verdict::kIllegal;
    counts.unstable += verdict.kind == Verdict::kUnstable;
    counts.wrong += verdict.isFault();
    if (verdict.kind != Verdict::kIllegal)
      counts.addOps(text, names);
    if (verdict.isFault())
      report(context, seed, text, way, verdict);
  }
  return counts;
}

/// An op that no program holds would be an op that is not checked.
bool coversAll(const Counts &counts) {
  bool all = true;
  for (const auto &[name, programs] : counts.ops)
    if (programs == 0) {
      fmt::print("no program holds {}\n", name);
      all = false;
    }
  return all;
}

// --- Seeded faults ---

/// Outcomes of the faults of one kind.
struct Findings {
  unsigned made = 0, refused = 0, wrong = 0;

  unsigned found() const { return refused + wrong; }
};

/// One fault of the kind, in the first program from the seed on that has a place for it. In fp32: other
/// precisions may differ by more than a small fault.
void seedFault(mlir::MLIRContext &context, const FaultKind &kind, unsigned seed, bool shows,
               Findings &findings) {
  constexpr unsigned kPrograms = 30;
  for (unsigned end = seed + kPrograms; seed < end; ++seed) {
    const std::string text = drawProgram(context, seed, {});
    if (text.empty())
      continue;
    Way way = drawWay(seed, {});
    way.otherStage.reset();
    way.emulates = way.makesFp8 = false;
    way.set("cpu", "native"); // no code that this machine does not run
    std::erase_if(way.options.settings, [](const train::GivenSetting &each) {
      const train::Theme theme = train::findSetting(each.word)->theme;
      return theme == train::Theme::Precision || theme == train::Theme::LossScale;
    });
    Fault fault{kind, seed};
    const Verdict verdict = checkProgram(context, text, way, seed, &fault);
    if (!fault.wasMade)
      continue;
    if (shows)
      fmt::print("seed {}: {}: {}", seed, kind.name, verdict.isFault() ? verdict.what : "not found\n");
    ++findings.made;
    findings.refused += verdict.kind == Verdict::kRefused;
    findings.wrong += verdict.kind == Verdict::kWrong;
    return;
  }
}

/// Whether faults of every kind are found. Some faults are harmless, and which ones depends on the code of
/// this CPU's level: while none of a kind is found, up to `kMaxFaults` are made.
bool findsFaults(mlir::MLIRContext &context, const Options &options) {
  constexpr unsigned kMaxFaults = 12;
  bool all = true;
  unsigned first = options.first;
  for (const FaultKind &kind : faultKinds()) {
    Findings findings;
    for (unsigned i = 0; i < options.faults || (findings.found() == 0 && i < kMaxFaults); ++i)
      seedFault(context, kind, first + i * 100, options.shows, findings);
    first += options.faults * 100;
    fmt::print("{:12} {} made, {} give other numbers, {} are refused, {} are not found\n", kind.name,
               findings.made, findings.wrong, findings.refused, findings.made - findings.found());
    std::fflush(stdout);
    all &= findings.found() > 0;
  }
  return all;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles random programs, and compares a training step and an evaluation with the reference\n"
      "interpreter's. A program that differs is printed with its seed, and reduced; the exit code is 1 "
      "then.\n");

  const Options options;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (options.faults > 0)
    return findsFaults(context, options) ? 0 : 1;
  const Counts counts = run(context, options);
  fmt::print("{} programs: {} wrong, {} with numbers that depend on rounding, {} that cannot be trained\n",
             counts.programs, counts.wrong, counts.unstable, counts.illegal);
  for (const auto &[name, programs] : counts.ops)
    fmt::print("  {:20} in {}\n", name, programs);
  return counts.wrong == 0 && (!options.needsAll || coversAll(counts)) ? 0 : 1;
}
