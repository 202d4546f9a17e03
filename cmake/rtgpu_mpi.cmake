# Whether `rtgpu sweep` can be several processes: RTGPU_HAS_MPI says so afterwards. Nothing else needs MPI.
#
# RTGPU_MPI  AUTO: if MPI is found. ON: it has to be. OFF: no.
set(RTGPU_MPI AUTO CACHE STRING "Let rtgpu sweep be several processes, by MPI: AUTO, ON or OFF")
set_property(CACHE RTGPU_MPI PROPERTY STRINGS AUTO ON OFF)

set(RTGPU_HAS_MPI OFF)
if(NOT RTGPU_MPI STREQUAL "OFF")
  # MPI for C, as a C++ compiler uses it: the bindings for C++ are no more.
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(RTGPU_HAS_MPI ON)
  elseif(RTGPU_MPI STREQUAL "ON")
    message(FATAL_ERROR "RTGPU_MPI is ON, and there is no MPI for C and C++ (on Debian and Ubuntu: libopenmpi-dev)")
  endif()
endif()
if(RTGPU_HAS_MPI)
  message(STATUS "MPI: rtgpu sweep can be several processes")
else()
  message(STATUS "MPI: not found or not wanted; rtgpu sweep is one process")
endif()
