# The source files of one folder, compiled so that they count which lines run: RTGPU_COVERAGE=runtime/device/cuda, for
# tools/coverage.sh. Everything else is as in other builds, and so need not be compiled again.
set(RTGPU_COVERAGE "" CACHE STRING "Folder whose lines are counted")
if(RTGPU_COVERAGE)
  file(GLOB counted CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${RTGPU_COVERAGE}/*.cpp)
  set(libraries rtgpu_core rtgpu_taskset rtgpu_analysis rtgpu_runtime)
  if(TARGET rtgpu_experiments)
    list(APPEND libraries rtgpu_experiments)
  endif()
  set_property(SOURCE ${counted} TARGET_DIRECTORY ${libraries} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(SOURCE ${counted} TARGET_DIRECTORY ${libraries} APPEND PROPERTY COMPILE_OPTIONS -O0 --coverage)
  add_link_options(--coverage)
endif()
