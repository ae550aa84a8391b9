// Meaning: each rule of the semantic verifier rejects a plan that breaks it, with a message that says where.
#include "test/unit/plan/verify/verifier_support.h"

#include <functional>
#include <gmock/gmock.h>
#include <limits>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kMicro = 2, kUpdate = 3;

struct Rule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

fb::LaunchT &launchOf(PlanBuilder &b) { return operation<fb::LaunchT>(b, kMicro, 0); }
fb::LoopT &loopOf(PlanBuilder &b) { return operation<fb::LoopT>(b, kUpdate, 0); }
fb::CopyT &copyOf(PlanBuilder &b) { return operation<fb::CopyT>(b, kUpdate, 2); }
fb::LaunchT &innerLaunch(PlanBuilder &b) { return *loopOf(b).body[0]->operation.AsLaunch(); }

/// Gives the plan logits of two texts.
void generateTwoTexts(PlanBuilder &b) {
  fb::GenerationT &generation = *b.plan.generation;
  generation.batch = 2;
  generation.logits =
      b.buffer("l", PlanBuilder::kPersistent, fb::DType::F32, 2 * generation.vocabulary, fb::Role::Cache);
}

const Rule kRules[] = {
    {"target", [](auto &b) { b.plan.target = "tpu"; }, "plan target: expected 'cpu' or 'cuda', found 'tpu'"},
    {"report", [](auto &b) { b.plan.report = "{"; }, "the compile report: expected a JSON object"},
    {"noRanks", [](auto &b) { b.plan.ranks = 0; }, "plan ranks: expected 1 to 65536, found 0"},
    {"noMesh", [](auto &b) { b.plan.ranks = 4; }, "plan mesh: expected axes of 4 ranks, found 1 rank"},
    {"arenaName", [](auto &b) { b.plan.arenas[0]->name = ""; }, "the name of an arena: expected UTF-8"},
    {"arenaSpace", [](auto &b) { b.plan.arenas[0]->space = fb::Space(3); }, "unknown space 3"},
    {"kernelBesideTheDevice", [](auto &b) { b.plan.arenas[1]->space = fb::Space::Host; },
     "expected memory of the device, found host"},
    {"bufferOnDisk", [](auto &b) { b.plan.arenas[1]->space = fb::Space::Disk; },
     "expected an offset that is a multiple of 4096, found 4352"},
    {"streamUnknown", [](auto &b) { b.plan.entries[0]->instructions[0]->stream = fb::Stream(6); },
     "unknown stream 6"},
    {"streamOfAKernel", [](auto &b) { b.plan.entries[0]->instructions[0]->stream = fb::Stream::Disk; },
     "expected the stream compute for it, found disk"},
    {"afterItself", [](auto &b) { b.plan.entries[0]->instructions[0]->after = {0}; },
     "after: expected earlier instructions of the entry, ascending, found 0"},
    {"arenaTwice", [](auto &b) { b.plan.arenas[0]->name = "scratch"; }, "found it twice"},
    {"arenaTooLarge", [](auto &b) { b.plan.arenas[0]->bytes += 1 << 22; }, "that its buffers take"},
    {"arenaTooSmall", [](auto &b) { b.plan.arenas[0]->bytes -= 1; }, "within the"},
    {"bufferArena", [](auto &b) { b.plan.buffers[0]->arena = 7; }, "expected an arena below 2, found 7"},
    {"bufferOffset", [](auto &b) { b.plan.buffers[0]->offset = 4; }, "multiple of 64"},
    {"bufferOverflow", [](auto &b) { b.plan.buffers[0]->bytes = ~uint64_t{0} - 10; }, "within the"},
    {"bufferDType", [](auto &b) { b.plan.buffers[0]->dtype = fb::DType(77); }, "unknown dtype 77"},
    {"bufferControl", [](auto &b) { b.plan.buffers[0]->name = "a\xc2\x9b"; },
     "without control or invisible characters"},
    {"bufferName", [](auto &b) { b.plan.buffers[0]->name = "\xff"; }, "expected UTF-8"},
    {"kernelGrid", [](auto &b) { b.plan.kernels[0]->grid = 0; }, "expected a grid"},
    {"kernelKind", [](auto &b) { b.plan.kernels[0]->kind = fb::KernelKind(6); }, "unknown kind 6"},
    {"kernelTwice", [](auto &b) { b.plan.kernels[0]->symbol = "test_double"; }, "found it twice"},
    {"objectLevel", [](auto &b) { b.plan.objects[0]->level = "x86-64-v9"; }, "object level"},
    {"noObject", [](auto &b) { b.plan.objects.clear(); }, "found no object"},
    {"sourceIndex", [](auto &b) { b.plan.entries[kMicro]->instructions[0]->source = 99; },
     "expected a source below 3"},
    {"predictedSeconds", [](auto &b) { b.plan.entries[kMicro]->instructions[0]->predicted_seconds = -1; },
     "expected predicted seconds from 0 on, found -1"},
    {"predictedNoNumber",
     [](auto &b) {
       b.plan.entries[kMicro]->instructions[0]->predicted_seconds = std::numeric_limits<float>::quiet_NaN();
     },
     "expected predicted seconds from 0 on, found nan"},
    {"launchKernel", [](auto &b) { launchOf(b).kernel = 99; }, "expected a kernel below 6, found 99"},
    {"launchCount", [](auto &b) { launchOf(b).args.pop_back(); }, "expected 3 arguments, found 2"},
    {"launchBuffer", [](auto &b) { launchOf(b).args[0] = at(99); }, "expected a buffer below"},
    {"launchDType", [](auto &b) { launchOf(b).args[1] = at(0); },
     "expected a buffer of i32, found 'w' of f32"},
    {"launchExtent", [](auto &b) { launchOf(b).args[0] = at(0, 64); }, "found 16384 bytes at 64"},
    {"launchAlignment", [](auto &b) { launchOf(b).args[1] = at(0, 4); }, "an offset in multiples of 64"},
    {"launchOffsetOverflow", [](auto &b) { launchOf(b).args[0] = at(0, ~uint64_t{63}); }, "within the"},
    {"argumentsShared", [](auto &b) { b.plan.kernels[1]->params[1]->may_alias.clear(); },
     "kernel test_reciprocal, arguments 0 and 1: expected bytes apart, or the same where the kernel says "
     "that "
     "they may be, found shared bytes of 'inverse' and 'inverse'"},
    {"aliasOfWhatIsRead", [](auto &b) { b.plan.kernels[0]->params[0]->may_alias = {1}; },
     "kernel test_add, parameter 0, may_alias: expected of a parameter that is written others that are read, "
     "ascending, of its 16384 bytes, found 1"},
    {"aliasBeyond", [](auto &b) { b.plan.kernels[0]->params[2]->may_alias = {3}; }, "found 3"},
    {"aliasOfAnotherSize", [](auto &b) { b.plan.kernels[3]->params[2]->may_alias = {0}; }, "found 0"},
    {"aliasTwice", [](auto &b) { b.plan.kernels[0]->params[2]->may_alias = {1, 1}; }, "found 1"},
    {"strideOutsideLoop", [](auto &b) { launchOf(b).args[0] = at(0, 0, 64); },
     "no loop stride outside a loop"},
    {"copyExtent", [](auto &b) { copyOf(b).bytes += 1; }, "copy source: expected it within"},
    {"copyOverlap", [](auto &b) { *copyOf(b).destination = *copyOf(b).source; }, "found shared bytes"},
    {"zeroExtent", [](auto &b) { operation<fb::ZeroT>(b, 0, 0).bytes += 1; }, "entry init, instruction 0"},
    {"loopCount", [](auto &b) { loopOf(b).count = 0; }, "expected a count of 1 to 1048576, found 0"},
    {"loopExtent", [](auto &b) { loopOf(b).count = 17; }, "entry update, instruction 0.0"},
    {"loopNegative", [](auto &b) { innerLaunch(b).args[0] = at(0, 0, -1024); }, "within the"},
    {"loopAlignment", [](auto &b) { innerLaunch(b).args[0] = at(0, 0, 1022); },
     "a loop stride in multiples of 4, found 0 and 1022"},
    {"loopStuck", [](auto &b) { innerLaunch(b).args[0] = at(0); }, "expected an operand that advances"},
    {"loopNested", [](auto &b) { b.loop(loopOf(b).body, 2); }, "expected no loop within a loop"},
    {"entryName", [](auto &b) { b.plan.entries[0]->name = "start"; }, "entry: expected init, begin_step, "},
    {"entryTwice", [](auto &b) { b.plan.entries[0]->name = "eval"; }, "expected it once"},
    {"entryMissing", [](auto &b) { b.plan.entries.erase(b.plan.entries.begin() + kUpdate); },
     "expected entry 'update' or 'last_micro_step' where 2 micro-batches are accumulated, found neither"},
    {"entryLastAlone",
     [](auto &b) {
       b.plan.training->accumulate = 1;
       b.plan.entries[kUpdate]->name = "last_micro_step";
     },
     "found nothing to accumulate"},
    {"entryBoth", [](auto &b) { b.entry("last_micro_step"); }, "no entry 'update' follows, found both"},
    {"inputDType", [](auto &b) { b.plan.entries[kMicro]->inputs[0]->dtype = fb::DType::U32; },
     "input 'tokens'"},
    {"inputShape", [](auto &b) { b.plan.entries[kMicro]->inputs[0]->shape = {5}; },
     "found 5 elements of i32"},
    {"inputSamples", [](auto &b) { b.plan.entries[kMicro]->inputs[0]->shape = {2, 2}; },
     "of 4 samples, found 2"},
    {"inputShapeOverflow",
     [](auto &b) { b.plan.entries[kMicro]->inputs[0]->shape = {4, uint64_t{1} << 63, 2}; },
     "found 0 elements"},
    {"inputPads",
     [](auto &b) {
       fb::EntryT &eval = *b.plan.entries[kUpdate + 1];
       const uint32_t x = b.buffer("x", PlanBuilder::kPersistent, fb::DType::F32, 4, fb::Role::Input);
       b.input(eval, "x", x, fb::DType::F32, {4});
       eval.inputs.back()->pads = true;
     },
     "entry eval, input 'x': expected integers to fill up a batch with, found f32"},
    {"scalarName", [](auto &b) { b.plan.scalars[0]->name = "lrate"; }, "scalar 'lrate'"},
    {"scalarDType", [](auto &b) { b.plan.scalars[0]->dtype = fb::DType::I32; }, "scalar 'lr'"},
    {"scalarCount", [](auto &b) { b.plan.scalars[0]->count = 2; },
     "scalar 'lr': expected 1 elements, found 2"},
    {"positionCount", generateTwoTexts, "scalar 'position': expected 2 elements, found 1"},
    {"generationBatch", [](auto &b) { b.plan.generation->batch = 0; },
     "generation, batch: expected 1 to 1048576, found 0"},
    {"slotMissing",
     [](auto &b) {
       generateTwoTexts(b);
       b.plan.scalars[1]->count = 2;
       b.plan.scalars[1]->buffer =
           b.buffer("p", PlanBuilder::kPersistent, fb::DType::I32, 2, fb::Role::Cache);
     },
     "expected scalar 'slot' in a plan that generates several texts at once"},
    {"scalarMissing", [](auto &b) { b.plan.scalars.erase(b.plan.scalars.begin()); }, "expected scalar 'lr'"},
    {"inputRole", [](auto &b) { b.plan.buffers[3]->role = fb::Role::Workspace; },
     "entry micro_step, input 'tokens': expected a buffer of the device with the role input, found workspace "
     "in "
     "device"},
    {"inputInScratch",
     [](auto &b) {
       const uint32_t labels = b.buffer("labels", PlanBuilder::kScratch, fb::DType::I32, 4, fb::Role::Input);
       b.input(*b.plan.entries[kMicro], "labels", labels, fb::DType::I32, {4});
     },
     "entry micro_step, input 'labels': expected"},
    {"inputsShareBytes", [](auto &b) { b.input(*b.plan.entries[kMicro], "labels", 3, fb::DType::I32, {4}); },
     "entry micro_step, inputs 'tokens' and 'labels': expected bytes of their own"},
    {"scalarsShareABuffer", [](auto &b) { b.plan.scalars[3]->buffer = b.plan.scalars[2]->buffer; },
     "scalar 'finite': expected a buffer of its own, found that of another scalar"},
    {"logitsScratch",
     [](auto &b) {
       b.plan.generation->logits = b.buffer("l", PlanBuilder::kScratch, fb::DType::F32, 256, fb::Role::Cache);
     },
     "generation, logits: expected it in a persistent arena of the device, found it in 'scratch'"},
    {"copyTypes",
     [](auto &b) {
       const uint32_t other = b.buffer("other", PlanBuilder::kScratch, fb::DType::I32, 4096);
       b.copy(b.plan.entries[kMicro]->instructions, at(0), at(other), 16384);
     },
     "copy: expected buffers of one dtype, found 'w' of f32 and 'other' of i32"},
    {"arenasTogether",
     [](auto &b) {
       for (const char *name : {"x", "y"}) {
         auto &arena = b.plan.arenas.emplace_back(std::make_unique<fb::ArenaT>());
         arena->name = name;
         b.buffer(name, uint32_t(b.plan.arenas.size() - 1), fb::DType::U8, uint64_t{3} << 44);
       }
     },
     "arenas: expected at most 70368744177664 bytes together, found more in 'y' and those before it"},
    {"noThreads", [](auto &b) { b.plan.kernels[0]->threads = 0; },
     "kernel test_add: expected blocks of 1 to 1024 threads"},
    {"sharedBytes", [](auto &b) { b.plan.kernels[0]->shared_bytes = ~0U; }, "found 1 and 4294967295"},
    {"scalarInAState", [](auto &b) { b.plan.buffers[b.plan.scalars[0]->buffer]->role = fb::Role::Optimizer; },
     "scalar 'lr': expected a buffer that holds no state and no batch column, found one with the role "
     "optimizer"},
    {"scalarInAColumn", [](auto &b) { b.plan.buffers[b.plan.scalars[2]->buffer]->role = fb::Role::Input; },
     "scalar 'loss': expected a buffer that holds no state and no batch column, found one with the role "
     "input"},
    {"scalarScratch",
     [](auto &b) { b.plan.scalars[0]->buffer = b.buffer("lr", PlanBuilder::kScratch, fb::DType::F32, 1); },
     "scalar 'lr': expected it in a persistent arena of the device, found it in 'scratch'"},
    {"stateShape", [](auto &b) { b.plan.states[0]->shape = {15, 256}; }, "state 'w'"},
    {"stateRole", [](auto &b) { b.plan.states[0]->role = fb::Role::Cache; },
     "expected the role parameter or optimizer"},
    {"stateName", [](auto &b) { b.plan.states[0]->name = "__metadata__"; },
     "state '__metadata__': expected another name"},
    {"stateTwice", [](auto &b) { b.state("w", 0, {4096}, fb::Role::Parameter); },
     "state 'w': expected it once"},
    {"microBatch", [](auto &b) { b.plan.training->micro_batch = 0; }, "micro_batch: expected 1"},
    {"accumulate", [](auto &b) { b.plan.training->accumulate = uint64_t{1} << 40; },
     "accumulate: expected 1"},
    {"rate", [](auto &b) { b.plan.training->schedule->peak = -1; }, "finite rate"},
    {"numbers", [](auto &b) { b.plan.training->schedule->numbers.clear(); },
     "schedule: expected 2 numbers for constant, found 0"},
    {"warmup", [](auto &b) { b.plan.training->schedule->numbers = {0.5, 0}; },
     "schedule, warmup: expected a whole number of steps up to 1099511627776, found 0.5"},
    {"skippedSteps", [](auto &b) { b.plan.training->schedule->skipped_advance = true; },
     "schedule: expected scalar 'overflow' where skipped steps move it"},
    {"logits", [](auto &b) { b.plan.generation->vocabulary = 1 << 20; }, "generation, logits"},
    {"exportPath", [](auto &b) { b.plan.exports[0]->file = "../config.json"; }, "expected a plain file name"},
};

class VerifierRule : public testing::TestWithParam<Rule> {};

TEST_P(VerifierRule, IsRefusedWithItsMessage) {
  PlanBuilder builder = fullPlan();
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Plan, VerifierRule, testing::ValuesIn(kRules),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Verifier, AcceptsTheFullPlan) { EXPECT_EQ(messageOf(fullPlan()), "accepted"); }

/// It would be as the run before has left it, or zero.
TEST(Verifier, RefusesAColumnThatNothingFills) {
  PlanBuilder builder = fullPlan();
  const uint32_t column =
      builder.buffer("labels", PlanBuilder::kPersistent, fb::DType::I32, 4, fb::Role::Input);
  const uint32_t kernel = builder.kernel("reads", 1, {{fb::Access::Read, fb::DType::I32, 16}});
  builder.launch(builder.plan.entries[kMicro]->instructions, kernel, {at(column)});
  EXPECT_THAT(messageOf(builder),
              AllOf(HasSubstr("entry micro_step, instruction "),
                    HasSubstr("kernel reads, argument 0: expected 'labels' among the entry's inputs, found a "
                              "batch column that nothing fills")));
  auto &inputs = builder.plan.entries[kMicro]->inputs;
  inputs.push_back(std::make_unique<fb::InputT>(*inputs.front()));
  inputs.back()->column = "labels";
  inputs.back()->buffer = column;
  EXPECT_EQ(messageOf(builder), "accepted");
}

TEST(Verifier, NamesInstructionAndSource) {
  PlanBuilder builder = fullPlan();
  operation<fb::LaunchT>(builder, kMicro, 1).args[2] = at(99);
  EXPECT_THAT(messageOf(builder), AllOf(HasSubstr("entry micro_step, instruction 1"),
                                        HasSubstr("h.1: nn.matmul"), HasSubstr("test.mlir:8")));
}

TEST(Verifier, RefusesArgumentsThatShareSomeBytes) {
  PlanBuilder builder = fullPlan();
  for (auto &param : builder.plan.kernels[1]->params)
    param->bytes -= 64;
  operation<fb::LaunchT>(builder, kUpdate, 3).args[1] = at(6, 64); // it is in place
  EXPECT_THAT(messageOf(builder), HasSubstr("arguments 0 and 1: expected bytes apart"));
}

TEST(Verifier, RefusesArgumentsThatMeetInALaterIteration) {
  PlanBuilder builder = fullPlan();
  const uint32_t kernel = builder.kernel(
      "moves", 1, {{fb::Access::Read, fb::DType::F32, 64}, {fb::Access::Write, fb::DType::F32, 64}});
  PlanBuilder::Body &loop = builder.loop(builder.plan.entries[1]->instructions, 4);
  builder.launch(loop, kernel, {at(0, 64, 64), at(0)});
  EXPECT_EQ(messageOf(builder), "accepted");
  loop[0]->operation.AsLaunch()->args[1] = at(0, 192);
  EXPECT_THAT(messageOf(builder), HasSubstr("kernel moves, arguments 0 and 1: expected bytes apart"));
}

/// Direct I/O requires alignment in memory as well as on disk.
TEST(Verifier, RefusesUnalignedCopiesToDisk) {
  PlanBuilder builder = spacesPlan();
  EXPECT_EQ(messageOf(builder), "accepted");
  fb::BufferT &read = *builder.plan.buffers[3]; // the last of its arena, copied from disk
  read.offset += 64;
  builder.plan.arenas[read.arena]->bytes += 64;
  EXPECT_THAT(messageOf(builder),
              AllOf(HasSubstr("entry init, instruction 5"), HasSubstr("copy: expected offsets and lengths")));
  EXPECT_THAT(messageOf(builder), HasSubstr("found 16384 bytes at 32832 in the arena of 'z'"));
}

/// spacesPlan() with 16000 of 16384 bytes on disk, of which the last block moves whole: from x, and to z.
PlanBuilder planOfAnyLength() {
  constexpr uint64_t bytes = 16000;
  PlanBuilder builder = spacesPlan();
  builder.plan.buffers[5]->bytes = bytes;
  for (const size_t copy : {2, 5})
    operation<fb::CopyT>(builder, 0, copy).bytes = bytes;
  for (const uint32_t kernel : {0, 1}) // so many numbers are read and written
    for (auto &param : builder.plan.kernels[kernel]->params)
      param->bytes = bytes;
  for (const size_t copy : {1, 4})
    operation<fb::CopyT>(builder, 0, copy).bytes = bytes;
  return builder;
}

TEST(Verifier, AcceptsCopiesOfAnyLengthToTheEndOfABufferOnDisk) {
  PlanBuilder builder = planOfAnyLength();
  EXPECT_EQ(messageOf(builder), "accepted");
  operation<fb::CopyT>(builder, 0, 5).bytes -= 64;
  EXPECT_THAT(messageOf(builder), HasSubstr("copy: expected offsets and lengths in multiples of 4096"));
}

TEST(Verifier, RefusesALastBlockWithoutRoomInMemory) {
  PlanBuilder builder = planOfAnyLength();
  builder.plan.buffers[3]->bytes = 16000; // z
  EXPECT_THAT(messageOf(builder), HasSubstr("copy to the end of the last block: expected it within the 16000 "
                                            "bytes of buffer 3 ('z'), found 16384 bytes at 0"));
}

TEST(Verifier, RefusesToReadTheRestOfABlock) {
  PlanBuilder builder = planOfAnyLength();
  for (auto &param : builder.plan.kernels[0]->params)
    param->bytes += 64;
  operation<fb::CopyT>(builder, 0, 4).bytes += 64;
  EXPECT_THAT(messageOf(builder), HasSubstr("kernel test_add, argument 1: expected bytes written as 'z'"));
}

TEST(Verifier, AcceptsSlicesThatStartOnAnyElement) {
  PlanBuilder builder = fullPlan();
  innerLaunch(builder).args[0] = at(0, 0, 1020);
  EXPECT_EQ(messageOf(builder), "accepted");
}

} // namespace
} // namespace trainc::test
