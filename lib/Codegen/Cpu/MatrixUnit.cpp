#include "lib/Codegen/Cpu/MatrixUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace trainc::codegen;

void MatrixUnit::call(StringRef name, ValueRange args) {
  LLVM::CallIntrinsicOp::create(emit.builder, emit.loc, emit.builder.getStringAttr(name), args);
}

Value MatrixUnit::number(int64_t tile) {
  return arith::ConstantOp::create(emit.builder, emit.loc, emit.builder.getI8IntegerAttr(int8_t(tile)));
}

/// The configuration in memory is: palette 1; for every tile, bytes per row from byte 16 on (16 bits each)
/// and rows from byte 48 on.
void MatrixUnit::configure() {
  constexpr int64_t kTiles = 8;
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    bytes[16 + 2 * tile] = 4 * kUnitRows;
    bytes[48 + tile] = kUnitRows;
  }
  Type byte = emit.builder.getI8Type();
  auto type = VectorType::get({64}, byte);
  Value configuration = emit.stackArray(byte, 64);
  Value value = arith::ConstantOp::create(emit.builder, emit.loc,
                                          DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
  emit.store(value, {configuration, byte, emit.i64(0)});
  call("llvm.x86.ldtilecfg", configuration);
}

void MatrixUnit::release() { call("llvm.x86.tilerelease", {}); }
void MatrixUnit::zero(int64_t tile) { call("llvm.x86.tilezero", number(tile)); }

void MatrixUnit::load(int64_t tile, Value from, Value stride) {
  call("llvm.x86.tileloadd64", {number(tile), from, stride});
}

void MatrixUnit::store(int64_t tile, Value to, Value stride) {
  call("llvm.x86.tilestored64", {number(tile), to, stride});
}

void MatrixUnit::multiplyAdd(int64_t sums, int64_t a, int64_t b) {
  call("llvm.x86.tdpbf16ps", {number(sums), number(a), number(b)});
}
