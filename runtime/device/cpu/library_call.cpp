#include "runtime/device/cpu/library_call.h"

#include "plan/facts/library_calls.h"
#include "plan/schema/cpu_workspace.h"

namespace trainc {

Status checkLibraryWorkspace(const fb::Instruction &instruction) {
  uint64_t needed = 0, planned = 0;
  if (const fb::MatrixProduct *product = instruction.operation_as_MatrixProduct()) {
    needed = cpuProductWorkspace(product->transpose_b(), product->n(), product->k());
    planned = product->workspace_bytes();
  } else if (const fb::Attention *attention = instruction.operation_as_Attention()) {
    needed = cpuAttentionWorkspace(attention->pass() == fb::AttentionPass::Backward, attention->batch(),
                                   attention->heads(), attention->queries());
    planned = attention->workspace_bytes();
  }
  if (planned >= needed)
    return {};
  return invalidInput(
      "{}: expected a workspace of {} bytes or more on this device, found {}; compile the model again",
      libraryCallName(instruction), needed, planned);
}

} // namespace trainc
