// Kernels without reductions have the CPU's bits on GPUs.
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace trainc::codegen::harness;
using trainc::reference::Tensor;
using trainc::reference::Tensors;

namespace {

/// Numbers of each tensor: whole vectors of both targets, and a rest.
constexpr int64_t kCount = 2051;

std::string tensorOf(llvm::StringRef element) { return llvm::formatv("tensor<{0}x{1}>", kCount, element); }

/// The limits of f32, a third of all bit patterns, and numbers near zero.
std::vector<double> reals(bool isDouble, std::mt19937_64 &random) {
  std::vector<double> numbers = {0.0,     -0.0,     1.0,     -1.0,         INFINITY, -INFINITY,
                                 FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN, NAN};
  std::uniform_real_distribution<double> near(-20, 20);
  while (numbers.size() < kCount) {
    const uint64_t bits = random();
    const double any = isDouble ? llvm::bit_cast<double>(bits) : llvm::bit_cast<float>(uint32_t(bits));
    const double number = numbers.size() % 3 == 0 ? any : near(random);
    numbers.push_back(isDouble ? number : float(number));
  }
  std::ranges::shuffle(numbers, random);
  return numbers;
}

/// Integers of every width, including 0 and -1, which are special for divisions.
int64_t integer(std::mt19937_64 &random) {
  const uint64_t bits = random();
  return int64_t(bits) >> (bits % 64);
}

Tensors inputsOf(const ParsedOp &op) {
  std::mt19937_64 random(7);
  Tensors inputs;
  for (mlir::Type type : op.inputTypes()) {
    Tensor input(mlir::cast<mlir::RankedTensorType>(type));
    if (input.isFloat()) {
      input.reals = reals(input.type().getElementType().isF64(), random);
      input.roundShortNumbers();
    } else {
      for (size_t i = 0; i < input.integers.size(); ++i)
        input.setInteger(int64_t(i), integer(random));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

/// NaN is NaN, whatever its bits.
bool isSame(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b);
}

/// Each of `values`, which are ops of the arguments, is a result of one kernel; `types`: of the results.
void expectBitsOfCpu(const std::string &arguments, const std::vector<std::string> &values,
                     const std::vector<std::string> &types) {
  std::string ops, names;
  for (auto [index, value] : llvm::enumerate(values)) {
    ops += llvm::formatv("  %r{0} = {1}\n", index, value);
    names += llvm::formatv("{0}%r{1}", index ? ", " : "", index);
  }
  const std::string text = "func.func @f(" + arguments + ") -> (" + llvm::join(types, ", ") + ") {\n" + ops +
                           "  return " + names + " : " + llvm::join(types, ", ") + "\n}";
  CompiledOp cpu(text);
  CudaOp gpu(text);
  ASSERT_TRUE(cpu && gpu);
  const Tensors inputs = inputsOf(cpu), expected = cpu.run(inputs), found = gpu.run(inputs);
  ASSERT_EQ(found.size(), values.size());
  for (size_t result = 0; result < found.size(); ++result) {
    SCOPED_TRACE(text + "\nresult " + std::to_string(result));
    EXPECT_EQ(found[result].integers, expected[result].integers);
    ASSERT_EQ(found[result].reals.size(), expected[result].reals.size());
    int64_t others = 0;
    for (size_t i = 0; i < found[result].reals.size(); ++i)
      if (const double a = found[result].reals[i], b = expected[result].reals[i];
          !isSame(a, b) && others++ == 0)
        ADD_FAILURE() << llvm::formatv("element {0}: {1:e16} on the GPU, {2:e16} on the CPU", i, a, b).str();
    EXPECT_EQ(others, 0);
  }
}

void expectBitsOfCpu(const std::string &arguments, const std::vector<std::string> &values,
                     const std::string &type) {
  expectBitsOfCpu(arguments, values, std::vector(values.size(), type));
}

constexpr const char *kFloats[] = {"f32", "f64", "bf16", "f16"};

} // namespace

TEST(ElementwiseBits, Functions) {
  for (const char *element : kFloats) {
    const std::string type = tensorOf(element);
    std::vector<std::string> values;
    for (const char *op : {"neg", "abs", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh",
                           "erf", "sigmoid", "relu", "silu", "square", "gelu"})
      values.push_back("nn." + std::string(op) + " %x : " + type);
    values.push_back("nn.gelu %x approximate tanh : " + type);
    expectBitsOfCpu("%x: " + type, values, type);
  }
}

TEST(ElementwiseBits, FunctionsOfTwoNumbers) {
  for (const char *element : {"f32", "f64", "bf16", "f16", "i32", "i64"}) {
    const std::string type = tensorOf(element);
    std::vector<std::string> values;
    for (const char *op : {"add", "sub", "mul", "div", "max", "min"})
      values.push_back("nn." + std::string(op) + " %x, %y : " + type + ", " + type);
    expectBitsOfCpu("%x: " + type + ", %y: " + type, values, type);
  }
}

TEST(ElementwiseBits, GradientsOfGelu) {
  for (const char *element : kFloats) {
    const std::string type = tensorOf(element), types = " : " + type + ", " + type;
    expectBitsOfCpu("%g: " + type + ", %x: " + type,
                    {"nn.gelu_grad %g at %x" + types, "nn.gelu_grad %g at %x approximate tanh" + types},
                    type);
  }
}

TEST(ElementwiseBits, Choices) {
  for (const char *element : {"f32", "f64", "bf16", "f16", "i32", "i64"}) {
    const std::string type = tensorOf(element), truths = tensorOf("i1");
    for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      expectBitsOfCpu("%x: " + type + ", %y: " + type,
                      {"nn.compare " + std::string(predicate) + " %x, %y : " + type + ", " + type,
                       "nn.select %r0, %x, %y : " + truths + ", " + type + ", " + type},
                      {truths, type});
  }
}

TEST(ElementwiseBits, Conversions) {
  constexpr const char *kTypes[] = {"f32", "f64", "bf16", "f16", "i32", "i64"};
  for (const char *from : kTypes) {
    std::vector<std::string> values, types;
    for (const char *to : kTypes)
      if (std::string(to) != from) {
        values.push_back("nn.convert %x to " + std::string(to) + " : " + tensorOf(from));
        types.push_back(tensorOf(to));
      }
    expectBitsOfCpu("%x: " + tensorOf(from), values, types);
  }
}

TEST(ElementwiseBits, PowersOfTwo) {
  expectBitsOfCpu("%x: " + tensorOf("f32"), {"nn.power_of_two %x : " + tensorOf("f32")}, tensorOf("f32"));
}

TEST(ElementwiseBits, RandomNumbers) {
  const std::string numbers = tensorOf("f32"), key = " seed %s step %t offset %o : " + numbers +
                                                     " : tensor<i64>, tensor<i64>, tensor<i64>";
  for (const char *kind : {"stream 3", "normal stream 5"})
    expectBitsOfCpu("%s: tensor<i64>, %t: tensor<i64>, %o: tensor<i64>", {"nn.random " + (kind + key)},
                    numbers);
  expectBitsOfCpu("%x: " + numbers + ", %c: " + tensorOf("i64") + ", %s: tensor<i64>, %t: tensor<i64>",
                  {"nn.stochastic_round %x in %c draw 3 seed %s step %t : " + numbers + ", " +
                   tensorOf("i64") + ", tensor<i64>, tensor<i64>"},
                  tensorOf("bf16"));
}
