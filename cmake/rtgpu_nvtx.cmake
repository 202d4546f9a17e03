# NVTX, by which profilers show the names of segments: headers only, of a CUDA toolkit or of a package. Not needed by those
# who use this project's package. Sets RTGPU_NVTX_FOUND.
set(RTGPU_NVTX AUTO CACHE STRING "Ranges of NVTX around GPU segments: AUTO (where its headers are found), ON, OFF")
set_property(CACHE RTGPU_NVTX PROPERTY STRINGS AUTO ON OFF)

set(RTGPU_NVTX_FOUND OFF)
if(RTGPU_NVTX)
  file(GLOB rtgpu_cuda_toolkits /usr/local/cuda-*)
  list(SORT rtgpu_cuda_toolkits COMPARE NATURAL ORDER DESCENDING)
  find_path(RTGPU_NVTX_INCLUDE nvtx3/nvToolsExt.h
            PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda ${rtgpu_cuda_toolkits} /opt/cuda /usr/lib/cuda
            PATH_SUFFIXES include)
  if(RTGPU_NVTX_INCLUDE)
    set(RTGPU_NVTX_FOUND ON)
    message(STATUS "NVTX: ${RTGPU_NVTX_INCLUDE}/nvtx3")
  elseif(RTGPU_NVTX STREQUAL AUTO)
    message(STATUS "NVTX: not found, so profilers will not show the names of segments")
  else()
    message(FATAL_ERROR "NVTX: nvtx3/nvToolsExt.h was not found. Set RTGPU_NVTX_INCLUDE to the folder that has it, or "
                        "RTGPU_NVTX to OFF.")
  endif()
else()
  message(STATUS "NVTX: off")
endif()
