#include "MachineCode.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Tensor;

static bool cpuHas(llvm::StringRef level) {
  return level == "x86-64-v4" ? __builtin_cpu_supports("x86-64-v4") : __builtin_cpu_supports("x86-64-v3");
}

std::unique_ptr<MachineCode> MachineCode::load(const codegen::Object &object) {
  if (!cpuHas(object.level))
    return nullptr;
  int file = memfd_create("kernels", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(file);
  bool written = write(file, object.image.data(), object.image.size()) == ssize_t(object.image.size());
  void *handle = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!handle) {
    llvm::errs() << "trainc-check: cannot load the kernels for " << object.level << ": "
                 << (written ? dlerror() : std::strerror(errno)) << "\n";
    close(file);
    return nullptr;
  }
  return std::unique_ptr<MachineCode>(new MachineCode(handle, file));
}

MachineCode::~MachineCode() {
  dlclose(handle_);
  close(file_); // as late as this: dlopen knows libraries by path, and the path names the descriptor
}

MachineCode::Kernel MachineCode::find(const std::string &symbol) const {
  return reinterpret_cast<Kernel>(dlsym(handle_, symbol.c_str()));
}

Buffer::Buffer(int64_t bytes) {
  size_t padded = llvm::alignTo(std::max<int64_t>(bytes, 1), 64);
  storage_.reset(std::aligned_alloc(64, padded));
  std::memset(data(), 0xFF, padded);
}

/// Calls `visit(Element())` with a value of the element's C++ type.
template <typename Visit> static void withElement(Type element, Visit visit) {
  if (element.isF32())
    visit(float());
  else if (element.isF64())
    visit(double());
  else if (element.isInteger(64))
    visit(int64_t());
  else if (element.isInteger(32))
    visit(int32_t());
  else
    visit(uint8_t());
}

Buffer::Buffer(const Tensor &tensor)
    : Buffer(tensor.elements() * codegen::elementBytes(tensor.type().getElementType())) {
  withElement(tensor.type().getElementType(), [&]<typename Element>(Element) {
    auto *to = static_cast<Element *>(data());
    for (int64_t i = 0; i < tensor.elements(); ++i)
      to[i] = tensor.isFloat() ? Element(tensor.reals[i]) : Element(tensor.integers[i]);
  });
}

Tensor Buffer::read(RankedTensorType type) const {
  Tensor tensor(type);
  withElement(type.getElementType(), [&]<typename Element>(Element) {
    const auto *from = static_cast<const Element *>(storage_.get());
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (tensor.isFloat())
        tensor.reals[i] = double(from[i]);
      else
        tensor.integers[i] = int64_t(from[i]);
  });
  return tensor;
}

Tensor check::rounded(const Tensor &tensor) { return Buffer(tensor).read(tensor.type()); }
