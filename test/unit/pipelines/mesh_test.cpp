// A program whose weights are sharded along two dimensions over two axes, on 4 ranks that are threads.
#include "dialects/Dist/Dist.h"
#include "lib/Fusion/Passes.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Shard/Passes.h"
#include "plan/file/file.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/exec/executor.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cstring>
#include <gmock/gmock.h>
#include <thread>

using namespace mlir;

namespace trainc {
namespace {

/// A matrix in row-major order.
struct Matrix {
  int64_t rows, columns;
  std::vector<float> numbers;

  float &at(int64_t row, int64_t column) { return numbers[size_t(row * columns + column)]; }
  float at(int64_t row, int64_t column) const { return numbers[size_t(row * columns + column)]; }
  bool operator==(const Matrix &) const = default;
};

Matrix zeros(int64_t rows, int64_t columns) {
  return {rows, columns, std::vector<float>(size_t(rows * columns))};
}

/// Small integers, so that sums are exact in any order.
Matrix integers(int64_t rows, int64_t columns, int seed) {
  Matrix matrix = zeros(rows, columns);
  for (size_t i = 0; i < matrix.numbers.size(); ++i)
    matrix.numbers[i] = float((int(i) * 7 + seed * 5) % 9 - 4);
  return matrix;
}

/// Shard `row` of `rows` along dimension 0, and of it shard `column` of `columns` along dimension 1.
Matrix shardOf(const Matrix &whole, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  Matrix shard = zeros(whole.rows / rows, whole.columns / columns);
  for (int64_t i = 0; i < shard.rows; ++i)
    for (int64_t j = 0; j < shard.columns; ++j)
      shard.at(i, j) = whole.at(row * shard.rows + i, column * shard.columns + j);
  return shard;
}

/// y = x up, z = (y * y) down. The types of a rank's shards are filled in; collectives are left out on one
/// rank.
std::string program(int64_t tensor, int64_t shard) {
  const bool alone = tensor * shard == 1;
  const int64_t inner = 16 / tensor, middle = 12 / shard;
  const std::string x = fmt::format("tensor<4x{}xf32>", inner),
                    up = fmt::format("tensor<{}x{}xf32>", inner, middle),
                    y = fmt::format("tensor<4x{}xf32>", middle),
                    down = fmt::format("tensor<{}x5xf32>", middle), z = "tensor<4x5xf32>";
  const auto sum = [&](const char *to, const char *from, const char *axis, const std::string &type) {
    return alone ? fmt::format("  %{} = nn.add %{}, %zero{} : {}, {}\n", to, from, to, type, type)
                 : fmt::format("  %{}s = dist.all_reduce_start %{} in {} : {}\n  %{} = dist.wait %{}s : {}\n",
                               to, from, axis, type, to, to, type);
  };
  const auto zero = [&](const char *of, const std::string &type) {
    return alone ? fmt::format("  %zero{} = nn.constant 0 : {}\n", of, type) : "";
  };
  const auto placed = [&](const char *placement) {
    return alone ? "" : fmt::format(" {{dist.placement = #dist.placement<{}>}}", placement);
  };
  const auto state = [](const char *name, const std::string &type, const std::string &placement) {
    return fmt::format("train.state cache @{} : {}{}\n", name, type, placement);
  };
  const auto get = [](const char *name, const std::string &type) {
    return fmt::format("  %{} = train.get @{} : {}\n", name, name, type);
  };
  return (alone ? "" : fmt::format("dist.mesh [shard = {}, tensor = {}]\n", shard, tensor)) +
         state("x", x, placed("tensor = 1")) + state("up", up, placed("tensor = 0, shard = 1")) +
         state("down", down, placed("shard = 0")) + state("z", z, "") + "train.entry @eval {\n" +
         get("x", x) + get("up", up) + get("down", down) + zero("y", y) + zero("z", z) +
         fmt::format("  %0 = nn.matmul %x, %up : {}, {}\n", x, up) + sum("y", "0", "tensor", y) +
         fmt::format("  %1 = nn.mul %y, %y : {}, {}\n", y, y) +
         fmt::format("  %2 = nn.matmul %1, %down : {}, {}\n", y, down) + sum("z", "2", "shard", z) +
         fmt::format("  train.set @z, %z : {}\n}}\n", z);
}

class MeshTest : public testing::Test {
protected:
  MeshTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The plan of a program in phase `spmd`, verified and aligned.
  std::vector<uint64_t> planOf(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    PassManager passes(&context);
    passes.addPass(createVerifySpmd());
    passes.addPass(createFusePass());
    EXPECT_TRUE(module && succeeded(passes.run(*module))) << text;
    const FailureOr<std::vector<uint8_t>> payload = planOfEntries(*module, "mesh");
    EXPECT_TRUE(succeeded(payload));
    std::vector<uint64_t> aligned((payload->size() + 7) / 8);
    std::memcpy(aligned.data(), payload->data(), payload->size());
    size = payload->size();
    return aligned;
  }

  /// @z on each rank; inputs(name, mesh, rank) is the content of a state, or null.
  template <typename Inputs> std::vector<Matrix> run(const std::string &text, Inputs inputs) {
    const std::vector<uint64_t> aligned = planOf(text);
    const Result<const fb::Plan *> plan = readPayload(std::as_bytes(std::span(aligned)).first(size));
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    const Mesh mesh(**plan);
    std::vector<Matrix> results(mesh.ranks(), zeros(4, 5));
    const CommunicatorNeeds needs = communicatorNeeds(**plan);
    const Result<LocalGroup> group =
        LocalGroup::create(mesh, needs.bytes, {.timeoutSeconds = 60, .inFlight = needs.inFlight});
    EXPECT_TRUE(group.ok()) << group.status().message();
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < mesh.ranks(); ++rank)
      threads.emplace_back([&, rank] { runRank(**plan, *group, rank, inputs, results[rank]); });
    for (std::thread &thread : threads)
      thread.join();
    return results;
  }

  template <typename Inputs>
  static void runRank(const fb::Plan &plan, const LocalGroup &group, uint32_t rank, Inputs inputs,
                      Matrix &result) {
    const auto communicator = group.communicator(rank);
    ASSERT_TRUE(communicator.ok()) << communicator.status().message();
    CpuDevice device(1);
    const auto executor =
        Executor::create(plan, device, {.communicator = plan.ranks() > 1 ? communicator->get() : nullptr});
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    for (uint32_t i = 0; i < plan.buffers()->size(); ++i)
      if (const Matrix *held = inputs(plan.buffers()->Get(i)->name()->string_view(), Mesh(plan), rank)) {
        ASSERT_EQ((*executor)->buffer(i).bytes, held->numbers.size() * sizeof(float));
        (*executor)->write((*executor)->buffer(i), std::as_bytes(std::span(held->numbers)));
      }
    const Status status = (*executor)->run("eval");
    ASSERT_TRUE(status.ok()) << status.message();
    for (uint32_t i = 0; i < plan.buffers()->size(); ++i)
      if (plan.buffers()->Get(i)->name()->string_view() == "z") {
        const Status read =
            (*executor)->read(std::as_writable_bytes(std::span(result.numbers)), (*executor)->buffer(i));
        EXPECT_TRUE(read.ok()) << read.message();
      }
  }

  MLIRContext context;
  size_t size = 0;
};

TEST_F(MeshTest, TwoShardedDimensionsGiveTheUnshardedValues) {
  const std::map<std::string_view, Matrix> wholes = {
      {"x", integers(4, 16, 1)}, {"up", integers(16, 12, 2)}, {"down", integers(12, 5, 3)}};
  std::map<std::pair<std::string_view, uint32_t>, Matrix> shards;
  const auto shard = [&](uint32_t rank) { return int64_t(rank / 2); };
  const auto tensor = [&](uint32_t rank) { return int64_t(rank % 2); };
  for (uint32_t rank = 0; rank < 4; ++rank) {
    shards.emplace(std::pair("x", rank), shardOf(wholes.at("x"), 0, 1, tensor(rank), 2));
    shards.emplace(std::pair("up", rank), shardOf(wholes.at("up"), tensor(rank), 2, shard(rank), 2));
    shards.emplace(std::pair("down", rank), shardOf(wholes.at("down"), shard(rank), 2, 0, 1));
  }
  const auto find = [](const auto &matrices, const auto &key) {
    const auto found = matrices.find(key);
    return found == matrices.end() ? nullptr : &found->second;
  };
  const std::vector<Matrix> alone =
      run(program(1, 1), [&](std::string_view name, const Mesh &, uint32_t) { return find(wholes, name); });
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_NE(alone[0], zeros(4, 5));
  const std::vector<Matrix> ranks =
      run(program(2, 2), [&](std::string_view name, const Mesh &, uint32_t rank) {
        return find(shards, std::pair(name, rank));
      });
  ASSERT_EQ(ranks.size(), 4u);
  EXPECT_THAT(ranks, testing::Each(testing::Eq(alone[0])));
}

TEST_F(MeshTest, CollectivesNameTheirAxes) {
  const std::vector<uint64_t> aligned = planOf(program(2, 2));
  const Result<const fb::Plan *> plan = readPayload(std::as_bytes(std::span(aligned)).first(size));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  std::vector<std::string> axes;
  for (const fb::Instruction *instruction : *(*plan)->entries()->Get(0)->instructions())
    if (const fb::Collective *collective = instruction->operation_as_Collective())
      axes.push_back(Mesh(**plan).textOf(axesOf(*collective->axes())));
  EXPECT_THAT(axes, testing::ElementsAre("tensor", "shard"));
  EXPECT_EQ((*plan)->ranks(), 4u);
}

} // namespace
} // namespace trainc
