# Headers of CUDA 13 or newer, whose libraries are loaded at run time and never linked. Sets TRAINC_CUDA, and the target cuda_headers if so.
find_path(TRAINC_CUDA_INCLUDE cuda.h
  HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_PATH ENV CUDA_HOME
  PATHS /usr/local/cuda /opt/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include
  DOC "Folder with cuda.h, cublasLt.h and nccl.h")
set(TRAINC_CUDA OFF)
set(version 0)
if(TRAINC_CUDA_INCLUDE)
  file(STRINGS ${TRAINC_CUDA_INCLUDE}/cuda.h line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${line}")
endif()
if(NOT TRAINC_CUDA_INCLUDE)
  message(STATUS "No CUDA headers (cuda.h): trainrun is built without --device=cuda. Set CUDAToolkit_ROOT or CUDA_PATH to the toolkit's folder.")
elseif(version LESS 13000)
  message(STATUS "CUDA headers in ${TRAINC_CUDA_INCLUDE} are of version ${version}, 13000 or newer is needed: trainrun is built without --device=cuda.")
elseif(NOT EXISTS ${TRAINC_CUDA_INCLUDE}/cublasLt.h)
  message(STATUS "CUDA headers in ${TRAINC_CUDA_INCLUDE} lack cublasLt.h: trainrun is built without --device=cuda.")
else()
  set(TRAINC_CUDA ON)
  add_library(cuda_headers INTERFACE)
  target_include_directories(cuda_headers SYSTEM INTERFACE ${TRAINC_CUDA_INCLUDE})
endif()
