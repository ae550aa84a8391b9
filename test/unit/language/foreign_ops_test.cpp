// Every name of PyTorch's that the page From PyTorch knows has an answer, and every op that an answer names
// exists.
#include "dialects/NN/ForeignOps.h"

#include "dialects/NN/NN.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace trainc {
namespace {

/// Names of the ops, without the dialect.
std::set<std::string> ownOps() {
  mlir::MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  std::set<std::string> names;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == "nn")
      names.insert(op.stripDialect().str());
  return names;
}

std::string withoutUnderscores(std::string text) {
  std::erase(text, '_');
  return text;
}

TEST(ForeignOps, EachAnswerNamesOpsThatExist) {
  const std::set<std::string> own = ownOps();
  const std::regex kOp("nn\\.([a-z_0-9]+)");
  for (const ForeignOp &each : foreignOps()) {
    const std::string advice(each.advice);
    for (std::sregex_iterator at(advice.begin(), advice.end(), kOp), end; at != end; ++at)
      EXPECT_TRUE(own.contains((*at)[1])) << each.name << ": " << (*at)[0];
  }
}

TEST(ForeignOps, NoneIsInTheTableTwiceOrHidesAnOpOfOurs) {
  const auto ops = foreignOps();
  EXPECT_TRUE(std::ranges::is_sorted(ops, {}, &ForeignOp::name));
  EXPECT_EQ(std::ranges::adjacent_find(ops, {}, &ForeignOp::name), ops.end());
  for (const std::string &own : ownOps())
    if (own != "scatter_add") // torch's name, too
      EXPECT_EQ(adviceOnForeignOp(own), "") << own;
}

TEST(ForeignOps, NamesMayHaveModulesCapitalsAndUnderscores) {
  EXPECT_EQ(adviceOnForeignOp("torch.nn.functional.leaky_relu"), adviceOnForeignOp("nn.LeakyReLU"));
  EXPECT_EQ(adviceOnForeignOp("nn.BatchNorm2d"), adviceOnForeignOp("batch_norm"));
  EXPECT_EQ(adviceOnForeignOp("torch.cat"), "write `nn.concat`");
  EXPECT_EQ(adviceOnForeignOp("nn.Conv2d"), "convolutions are absent");
  EXPECT_EQ(adviceOnForeignOp("nn.frobnicate"), "");
}

/// The left column of the page's first table.
TEST(ForeignOps, EachNameOfThePageHasAnAnswer) {
  std::set<std::string> own;
  for (const std::string &name : ownOps())
    own.insert(withoutUnderscores(name));
  std::ifstream page(FROM_PYTORCH);
  const std::regex kName("`([A-Za-z_.0-9]+)(\\([^`]*\\))?`");
  size_t count = 0;
  bool isWanted = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## "))
      isWanted = line == "## Modules and functions to ops";
    if (!isWanted || !line.starts_with("| ") || line.starts_with("| PyTorch"))
      continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), kName), end; at != end; ++at, ++count) {
      const std::string name = (*at)[1];
      std::string last = withoutUnderscores(name.substr(name.rfind('.') + 1));
      std::ranges::transform(last, last.begin(), [](unsigned char c) { return std::tolower(c); });
      EXPECT_TRUE(own.contains(last) || !adviceOnForeignOp(name).empty()) << name;
    }
  }
  EXPECT_GT(count, 50);
}

} // namespace
} // namespace trainc
