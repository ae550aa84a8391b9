// TRAINC_EMULATOR_* variables: properties of the devices, and injected faults.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace trainc::emulator {
namespace {

int attribute(CUdevice_attribute attribute, CUdevice device = 0) {
  int value = -1;
  EXPECT_CU(cuDeviceGetAttribute(&value, attribute, device));
  return value;
}

TEST(EmulatedEnvironment, SaysWhatTheDevicesAre) {
  const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_DEVICES", "4"},
                                               {"CUDA_VISIBLE_DEVICES", "3,1,9,0"},
                                               {"TRAINC_EMULATOR_CAPABILITY", "8.6"},
                                               {"TRAINC_EMULATOR_MEMORY", "10000000"},
                                               {"TRAINC_EMULATOR_DRIVER", "13010"}});
  int number = 0;
  EXPECT_CU(cuDeviceGetCount(&number));
  EXPECT_EQ(number, 2); // up to the one that is not there
  EXPECT_CU(cuDriverGetVersion(&number));
  EXPECT_EQ(number, 13010);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 6);
  EXPECT_EQ(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = 0;
  EXPECT_CU(cuDeviceGet(&device, 1));
  char name[32];
  EXPECT_CU(cuDeviceGetName(name, sizeof name, device));
  EXPECT_STREQ(name, "emulated GPU 1");
  EXPECT_CU(cuDeviceGetName(name, 5, 0));
  EXPECT_STREQ(name, "emul");
  CUuuid first, second;
  EXPECT_CU(cuDeviceGetUuid(&first, 0));
  EXPECT_CU(cuDeviceGetUuid(&second, 1));
  EXPECT_NE(std::string(first.bytes, 16), std::string(second.bytes, 16));
  size_t bytes = 0;
  EXPECT_CU(cuDeviceTotalMem(&bytes, 0));
  EXPECT_EQ(bytes, 10000000U);
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
}

TEST(EmulatedEnvironment, CountsDevicesBySpeedOrAlongTheBus) {
  const auto nameOfFirst = [](const char *order) {
    const EmulatedGpu gpu(EmulatedGpu::Variables{
        {"TRAINC_EMULATOR_DEVICES", "4"}, {"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", order}});
    char name[32];
    EXPECT_CU(cuDeviceGetName(name, sizeof name, 0));
    return std::string(name);
  };
  EXPECT_EQ(nameOfFirst("FASTEST_FIRST"), "emulated GPU 1");
  EXPECT_EQ(nameOfFirst("PCI_BUS_ID"), "emulated GPU 2");
}

TEST(EmulatedEnvironment, NoDeviceIsAnError) {
  for (const char *variable : {"TRAINC_EMULATOR_DEVICES=0", "CUDA_VISIBLE_DEVICES=",
                               "CUDA_VISIBLE_DEVICES=-1", "CUDA_VISIBLE_DEVICES=0,0"}) {
    const std::string text = variable;
    const std::string name = text.substr(0, text.find('='));
    setenv(name.c_str(), text.substr(text.find('=') + 1).c_str(), 1);
    EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE) << variable;
    unsetenv(name.c_str());
  }
}

TEST(EmulatedEnvironment, MemoryIsLimited) {
  const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_MEMORY", std::to_string(4 << 20)}});
  size_t free = 0, total = 0;
  EXPECT_CU(cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, size_t{4} << 20);
  EXPECT_EQ(free, size_t{3} << 20); // the context takes some
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, free + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CU(cuMemAlloc(&memory, free - 4096));
  size_t left = 0;
  EXPECT_CU(cuMemGetInfo(&left, &total));
  EXPECT_EQ(left, 4096U);
  EXPECT_CU(cuMemFree(memory));
  EXPECT_CU(cuMemGetInfo(&left, &total));
  EXPECT_EQ(left, free);
}

TEST(EmulatedEnvironment, CallsFailOnRequest) {
  const EmulatedGpu gpu(
      EmulatedGpu::Variables{{"TRAINC_EMULATOR_FAULT", "cuMemAlloc:2=CUDA_ERROR_OUT_OF_MEMORY,"
                                                       "cuMemAlloc:4=CUDA_ERROR_UNKNOWN,"
                                                       "ncclAllReduce:1=ncclSystemError"}});
  CUdeviceptr memory = 0;
  EXPECT_CU(cuMemAlloc(&memory, 4));
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CU(cuMemAlloc(&memory, 4));
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_UNKNOWN);
  EXPECT_CU(cuMemAlloc(&memory, 4));
}

TEST(EmulatedEnvironment, AFaultOfHardwareStays) {
  const EmulatedGpu gpu(EmulatedGpu::Variables{
      {"TRAINC_EMULATOR_FAULT", "cuStreamSynchronize:1=CUDA_ERROR_ECC_UNCORRECTABLE"}});
  CUstream stream = gpu.stream();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ECC_UNCORRECTABLE);
}

TEST(EmulatedEnvironment, InitialisationFailsOnRequest) {
  setenv("TRAINC_EMULATOR_FAULT", "cuInit:1=CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", 1);
  EXPECT_EQ(cuInit(0), CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  unsetenv("TRAINC_EMULATOR_FAULT");
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatedEnvironment, WrongVariablesEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto init = [](const char *name, const char *value) {
    setenv(name, value, 1);
    cuInit(0);
  };
  EXPECT_EXIT(init("TRAINC_EMULATOR_FAULT", "cuMemAlloc"), testing::ExitedWithCode(2), "no such form");
  EXPECT_EXIT(init("TRAINC_EMULATOR_FAULT", "cuMalloc:1=CUDA_ERROR_UNKNOWN"), testing::ExitedWithCode(2),
              "no entry point 'cuMalloc' is emulated");
  EXPECT_EXIT(init("TRAINC_EMULATOR_FAULT", "malloc:1=CUDA_ERROR_UNKNOWN"), testing::ExitedWithCode(2),
              "no library has an entry point 'malloc'");
  EXPECT_EXIT(init("TRAINC_EMULATOR_FAULT", "cuMemAlloc:0=CUDA_ERROR_UNKNOWN"), testing::ExitedWithCode(2),
              "'0' is not a number of a call");
  EXPECT_EXIT(init("TRAINC_EMULATOR_FAULT", "cuMemAlloc:1=ENOMEM"), testing::ExitedWithCode(2),
              "'ENOMEM' is not an error of the library");
  EXPECT_EXIT(init("TRAINC_EMULATOR_SEED", "x"), testing::ExitedWithCode(2),
              "TRAINC_EMULATOR_SEED: expected a number up to .*, found 'x'");
  EXPECT_EXIT(init("TRAINC_EMULATOR_CAPABILITY", "9"), testing::ExitedWithCode(2),
              "expected a compute capability, e.g. 9.0, found '9'");
}

TEST(EmulatedEnvironment, CallsAreTraced) {
  const std::string file = testing::TempDir() + "trace." + std::to_string(getpid());
  {
    const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_TRACE", file}});
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
  }
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  EXPECT_THAT(lines, testing::ElementsAre(
                         "cuInit CUDA_SUCCESS", "cuDevicePrimaryCtxRetain CUDA_SUCCESS",
                         "cuCtxSetCurrent CUDA_SUCCESS", "cuStreamSynchronize CUDA_ERROR_INVALID_HANDLE",
                         "cuCtxSetCurrent CUDA_SUCCESS", "cuDevicePrimaryCtxRelease CUDA_SUCCESS"));
  std::remove(file.c_str());
}

} // namespace
} // namespace trainc::emulator
