#include "test/unit/emulator/kernel_runner.h"

#include <fmt/format.h>

namespace trainc::emulator {

KernelRunner::KernelRunner(const std::string &text) {
  Result<PtxModule> module = PtxModule::parse(text);
  if (module.ok())
    module_ = std::move(*module);
  else
    parseError_ = module.status().message();
}

Status KernelRunner::launch(const std::string &kernel, std::array<uint32_t, 3> grid,
                            std::array<uint32_t, 3> block, const std::vector<uint64_t> &arguments,
                            uint64_t seed, uint32_t dynamicSharedBytes) {
  const PtxFunction *const function = module_.find(kernel);
  if (!function)
    return failed("no kernel '{}': {}", kernel, parseError_);
  return run({function, grid, block, dynamicSharedBytes, std::as_bytes(std::span(arguments))}, memory_, seed);
}

std::string KernelRunner::fault(const std::string &kernel, uint32_t threads,
                                const std::vector<uint64_t> &arguments, uint64_t seed) {
  return launch(kernel, {1, 1, 1}, {threads, 1, 1}, arguments, seed).message();
}

std::string kernelOf(const std::string &body, unsigned parameters, const std::string &declarations) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n" + declarations + "\n.visible .entry k(\n";
  for (unsigned index = 0; index < parameters; ++index)
    text += fmt::format(".param .u64 k_param_{}{}\n", index, index + 1 < parameters ? "," : "");
  text += ")\n{\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>, %tid0, %i, %base;\n.reg .b64 "
          "%x<32>, %a<8>;\n"
          "mov.u32 %tid0, %tid.x;\nmov.u32 %base, %ctaid.x;\nmov.u32 %i, %ntid.x;\n"
          "mad.lo.s32 %i, %base, %i, %tid0;\n";
  for (unsigned index = 0; index < parameters; ++index)
    text += fmt::format("ld.param.u64 %a{0}, [k_param_{0}];\n", index);
  return text + body + "\nret;\n}\n";
}

std::string elementwiseKernel(const std::string &body, std::span<const size_t> inputBytes,
                              size_t resultBytes) {
  const auto registersOf = [](size_t bytes) { return bytes == 2 ? "h" : bytes == 4 ? "r" : "x"; };
  std::string text = "cvt.u64.u32 %x31, %i;\nsetp.ge.u64 %p15, %x31, %a1;\n@%p15 bra END;\n";
  for (size_t index = 0; index < inputBytes.size(); ++index)
    text += fmt::format("mad.lo.s64 %x30, %x31, {}, %a{};\nld.global.b{} %{}{}, [%x30];\n", inputBytes[index],
                        index + 2, inputBytes[index] * 8, registersOf(inputBytes[index]), index);
  text += body;
  text += fmt::format("\nmad.lo.s64 %x30, %x31, {}, %a0;\nst.global.b{} [%x30], %{}9;\nEND:\n", resultBytes,
                      resultBytes * 8, registersOf(resultBytes));
  return kernelOf(text, static_cast<unsigned>(inputBytes.size() + 2));
}

} // namespace trainc::emulator
