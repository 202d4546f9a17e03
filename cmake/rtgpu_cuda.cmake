# Whether code for CUDA devices (.cu) is built: RTGPU_CUDA says so afterwards, and the configure output says why not. The
# libraries and the rtgpu command do not need it, nor does a run on a CUDA device: that opens the driver itself. Examples,
# tests and benchmarks with kernels of their own do.
#
# RTGPU_BUILD_CUDA  AUTO: if a CUDA compiler is found and works together with the C++ compiler. ON: the same, with a warning
#                   if it does not. OFF: no. Never a failure to configure.
# RTGPU_CUDA_ARCHITECTURES  as CMAKE_CUDA_ARCHITECTURES. One takes half the time of all: the oldest one, whose PTX the
#                   driver compiles for later devices when a program starts.
if(PROJECT_IS_TOP_LEVEL)
  set(rtgpu_build_cuda_default AUTO)
else()
  set(rtgpu_build_cuda_default OFF)
endif()
set(RTGPU_BUILD_CUDA ${rtgpu_build_cuda_default} CACHE STRING "Build what has CUDA kernels: AUTO, ON or OFF")
set_property(CACHE RTGPU_BUILD_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RTGPU_CUDA_ARCHITECTURES 75 CACHE STRING "CUDA architectures to build for")

# A program with a kernel, compiled and linked: an nvcc that is there may still lack its headers, or refuse this version of
# the C++ compiler or the architecture, and enable_language() would end the configuration then. Sets `problem` in the
# caller.
function(rtgpu_try_cuda compiler problem)
  set(folder ${PROJECT_BINARY_DIR}/CMakeFiles/rtgpu_try_cuda)
  file(WRITE ${folder}/try.cu "#include <compare>\n__global__ void kernel() {}\nint main() { kernel<<<1, 1>>>(); }\n")
  set(code)
  foreach(architecture IN LISTS RTGPU_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^[0-9]+[a-z]?")
      list(APPEND code -gencode arch=compute_${CMAKE_MATCH_0},code=sm_${CMAKE_MATCH_0})
    endif()
  endforeach()
  execute_process(
    COMMAND ${compiler} -std=c++20 ${code} -ccbin ${CMAKE_CXX_COMPILER} -o ${folder}/try ${folder}/try.cu
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 120)
  if(status EQUAL 0)
    set(${problem} "" PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCH "[^\n]*(error|not found|nsupported|No such)[^\n]*" line "${said}")
  set(${problem} "${compiler} does not compile and link a kernel with ${CMAKE_CXX_COMPILER} (${status}): ${line}"
      PARENT_SCOPE)
endfunction()

# Sets `compiler` (the CUDA compiler) and `problem` (why there is none to use) in the caller.
function(rtgpu_find_cuda compiler problem)
  set(${compiler} "" PARENT_SCOPE)
  if(RTGPU_BUILD_CUDA STREQUAL "OFF")
    set(${problem} "RTGPU_BUILD_CUDA is OFF" PARENT_SCOPE)
    return()
  endif()
  if(RTGPU_SANITIZE)
    set(${problem} "the build has sanitizers" PARENT_SCOPE)
    return()
  endif()
  if(CMAKE_CUDA_COMPILER)
    set(found ${CMAKE_CUDA_COMPILER})
  else()
    # The newest of several toolkits that are not in PATH.
    file(GLOB folders LIST_DIRECTORIES true /usr/local/cuda/bin /usr/local/cuda-*/bin)
    list(SORT folders COMPARE NATURAL ORDER DESCENDING)
    find_program(RTGPU_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS ${folders} PATH_SUFFIXES bin
                 DOC "The CUDA compiler")
    set(found ${RTGPU_NVCC})
  endif()
  if(NOT found)
    set(${problem} "no CUDA compiler (nvcc) is in PATH or in /usr/local/cuda*/bin" PARENT_SCOPE)
    return()
  endif()
  rtgpu_try_cuda(${found} why)
  set(${compiler} ${found} PARENT_SCOPE)
  set(${problem} "${why}" PARENT_SCOPE)
endfunction()

set(RTGPU_CUDA OFF)
# Tried again after a failure, or if something has changed.
set(rtgpu_cuda_key "${RTGPU_BUILD_CUDA} ${RTGPU_CUDA_ARCHITECTURES} ${RTGPU_SANITIZE} ${CMAKE_CXX_COMPILER} $ENV{PATH}")
if(RTGPU_CUDA_PROBLEM OR NOT rtgpu_cuda_key STREQUAL RTGPU_CUDA_KEY)
  unset(RTGPU_NVCC CACHE)
  rtgpu_find_cuda(rtgpu_cuda_compiler rtgpu_cuda_problem)
  set(RTGPU_CUDA_PROBLEM "${rtgpu_cuda_problem}" CACHE INTERNAL "")
  set(RTGPU_CUDA_COMPILER "${rtgpu_cuda_compiler}" CACHE INTERNAL "")
  set(RTGPU_CUDA_KEY "${rtgpu_cuda_key}" CACHE INTERNAL "")
endif()

if(NOT RTGPU_CUDA_PROBLEM)
  set(CMAKE_CUDA_COMPILER ${RTGPU_CUDA_COMPILER} CACHE FILEPATH "CUDA compiler")
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "C++ compiler of the CUDA compiler")
  set(CMAKE_CUDA_ARCHITECTURES ${RTGPU_CUDA_ARCHITECTURES})
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit QUIET)
  if(NOT TARGET CUDA::cudart_static)
    set(RTGPU_CUDA_PROBLEM "the CUDA runtime library (cudart_static) is not found" CACHE INTERNAL "")
  else()
    set(RTGPU_CUDA ON)
  endif()
endif()

if(RTGPU_CUDA)
  message(STATUS "CUDA code: built by ${CMAKE_CUDA_COMPILER}, for ${CMAKE_CUDA_ARCHITECTURES}")
elseif(RTGPU_BUILD_CUDA STREQUAL "ON")
  message(WARNING "CUDA code is left out (examples, tests and benchmarks with kernels): ${RTGPU_CUDA_PROBLEM}")
else()
  message(STATUS "CUDA code: left out (examples, tests and benchmarks with kernels): ${RTGPU_CUDA_PROBLEM}")
endif()

# rtgpu_cuda_options(TARGET) lets a target have .cu files. They are also compiled for every architecture by the target
# cuda_all_architectures, which is not part of `all`.
function(rtgpu_cuda_options name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE CUDA::cudart_static rtgpu_options)
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${rtgpu_cuda_flags}>")
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY rtgpu_cuda_sources ${sources})
endfunction()

# CMake before 3.26 does not know how CUDA_STANDARD 20 is said.
set(rtgpu_cuda_flags -std=c++20 -Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow)
if(RTGPU_WARNINGS_AS_ERRORS)
  list(APPEND rtgpu_cuda_flags -Werror=all-warnings)
endif()

# After all programs: the target cuda_all_architectures. Machine code for those of the list that the compiler knows, and
# PTX of the oldest.
function(rtgpu_cuda_all_architectures)
  get_property(sources GLOBAL PROPERTY rtgpu_cuda_sources)
  if(NOT sources)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  set(architectures)
  foreach(architecture IN ITEMS 75 80 86 87 89 90 100 120)
    if(known MATCHES "sm_${architecture}[\n\r]")
      list(APPEND architectures ${architecture}-real)
    endif()
  endforeach()
  list(GET architectures 0 oldest)
  string(REPLACE "real" "virtual" oldest ${oldest})
  add_library(cuda_all_architectures OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(cuda_all_architectures PROPERTIES CUDA_ARCHITECTURES "${architectures};${oldest}")
  target_include_directories(cuda_all_architectures PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(cuda_all_architectures PRIVATE CUDA::cudart_static)
  target_compile_options(cuda_all_architectures PRIVATE ${rtgpu_cuda_flags})
endfunction()
