# Headers of CUDA 13 or newer, whose libraries are loaded at run time and never linked. Sets TRAINC_CUDA, and the target cuda_headers if so.
find_path(TRAINC_CUDA_INCLUDE cuda.h
  HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_PATH ENV CUDA_HOME
  PATHS /usr/local/cuda /opt/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include
  DOC "Folder with cuda.h and cublasLt.h")
set(TRAINC_CUDA OFF)
set(version 0)
if(TRAINC_CUDA_INCLUDE)
  file(STRINGS ${TRAINC_CUDA_INCLUDE}/cuda.h line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${line}")
endif()
# Packages of NCCL have theirs in the system's folder.
find_path(TRAINC_NCCL_INCLUDE nccl.h HINTS "${TRAINC_CUDA_INCLUDE}" DOC "Folder with nccl.h")
set(nccl_version 0)
if(TRAINC_NCCL_INCLUDE)
  file(STRINGS ${TRAINC_NCCL_INCLUDE}/nccl.h line REGEX "^#define NCCL_VERSION_CODE [0-9]+")
  string(REGEX MATCH "[0-9]+" nccl_version "${line}")
endif()
if(NOT TRAINC_CUDA_INCLUDE)
  message(STATUS "No CUDA headers (cuda.h): trainrun is built without --device=cuda. Set CUDAToolkit_ROOT or CUDA_PATH to the toolkit's folder.")
elseif(version LESS 13000)
  message(STATUS "CUDA headers in ${TRAINC_CUDA_INCLUDE} are of version ${version}, 13000 or newer is needed: trainrun is built without --device=cuda.")
elseif(NOT EXISTS ${TRAINC_CUDA_INCLUDE}/cublasLt.h)
  message(STATUS "CUDA headers in ${TRAINC_CUDA_INCLUDE} lack cublasLt.h: trainrun is built without --device=cuda.")
elseif(NOT TRAINC_NCCL_INCLUDE)
  message(STATUS "No header of NCCL (nccl.h) beside CUDA's in ${TRAINC_CUDA_INCLUDE} or in the system's: trainrun is built without --device=cuda.")
elseif(nccl_version LESS 22800)
  message(STATUS "nccl.h in ${TRAINC_NCCL_INCLUDE} is of version ${nccl_version}, 22800 or newer is needed: trainrun is built without --device=cuda.")
else()
  set(TRAINC_CUDA ON)
  add_library(cuda_headers INTERFACE)
  target_include_directories(cuda_headers SYSTEM INTERFACE ${TRAINC_CUDA_INCLUDE} ${TRAINC_NCCL_INCLUDE})
endif()
