// The parsed command line of trainc. Does not include MLIR, which is built without exceptions: the parser
// needs them.
#pragma once

#include "lib/Pipelines/CompileOptions.h"
#include "runtime/formats/safetensors_view.h"

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace trainc {

/// `trainc compile MODEL.mlir -o PLAN`.
struct CompileCommand {
  std::string model, report;
  std::string output;  ///< plan to write: MODEL.plan unless -o names another; empty with compileTo
  std::string dumpDir; ///< folder for numbered snapshots of the module, one per pass; empty: none
  bool quiet = false;  ///< whether only warnings and errors are printed
  CompileOptions options;
};

/// `trainc estimate MODEL.mlir`.
struct EstimateCommand {
  std::string model;
  int64_t memory = 0; ///< bytes that a rank may use; 0: unlimited
  bool json = false;
  CompileOptions options;
};

/// `trainc tokenize --tokenizer=bytes|FILE TEXT... -o tokens.bin`.
struct TokenizeCommand {
  std::string tokenizer = "bytes", output, endToken;
  bool anyText = false;
  std::vector<std::string> texts;
  bool quiet = false; ///< whether only warnings and errors are printed
};

/// `trainc import FOLDER|FILE -o MODEL.mlir`.
struct ImportCommand {
  std::string model; ///< a folder with a config.json, or the file itself
  std::string output;
  std::string task;              ///< a name of importer::kTaskNames; empty: the head of the weights' class
  std::optional<int64_t> labels; ///< classes of a new head
  bool tokenTypes = false;       ///< whether the data has a column with the types of tokens
  bool packed = false;           ///< whether the data has columns that tell the texts of a row apart
  bool dryRun = false;           ///< whether only the table of keys is printed
  bool noDropout = false;        ///< whether the model text has no dropout, whatever the config says
  bool quiet = false;
};

/// `trainc consolidate CHECKPOINT -o FILE.safetensors --dtype=fp32|bf16|fp16`.
struct ConsolidateCommand {
  std::string checkpoint, output;
  SafetensorsDType dtype = SafetensorsDType::kF32;
  bool quiet = false; ///< whether only warnings and errors are printed
};

/// `trainc export CHECKPOINT`.
struct ExportCommand {
  std::string checkpoint;
  std::string like; ///< folder or GGUF file whose form the output has
  std::string output;
  std::string type;   ///< of matrices in a GGUF file ("Q8_0"); empty: that of `like`
  bool merge = false; ///< whether adapters are merged into the weights
  bool quiet = false;
};

/// `trainc dump FILE`.
struct DumpCommand {
  std::string plan;      ///< a plan, or a file of weights
  bool settings = false; ///< print the settings of the compilation instead
  bool code = false;     ///< print the text of the kernels instead
};

/// `trainc report PLAN [OTHER] -o PAGE.html`.
struct ReportCommand {
  std::string plan;
  std::string other;  ///< if set, the report shows the differences from `plan` to this plan instead
  std::string output; ///< page to write; empty: print text
  bool json = false;  ///< print JSON instead of text
  bool quiet = false; ///< whether only warnings and errors are printed
};

/// `trainc sign PLAN --key=FILE.pem`.
struct SignCommand {
  std::string plan, key;
  bool quiet = false; ///< whether only warnings and errors are printed
};

/// `trainc simulate PLAN --cluster=FILE.json`.
struct SimulateCommand {
  std::string plan, cluster;
  bool json = false;  ///< print JSON instead of text
  uint32_t rows = 12; ///< number of costliest instructions to show
};

/// `trainc calibrate -o FILE.json`.
struct CalibrateCommand {
  std::string output;
  std::string cpu = "native"; ///< level whose code is measured, like the setting `cpu`
  bool quiet = false;         ///< whether only warnings and errors are printed
};

using Command =
    std::variant<CompileCommand, EstimateCommand, ImportCommand, TokenizeCommand, ConsolidateCommand,
                 DumpCommand, ExportCommand, ReportCommand, SignCommand, SimulateCommand, CalibrateCommand>;

/// Calls `visit` with the command line that defines all subcommands and options, for the reference pages.
void visitTraincOptions(const std::function<void(const CLI::App &)> &visit);

/// The requested command, or the exit code after help, version or a usage error was printed.
std::variant<Command, int> parseCommandLine(int argc, char **argv);

} // namespace trainc
