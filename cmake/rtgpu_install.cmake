# What `cmake --install` puts in place besides the targets: the public headers, the package for find_package(rtgpu),
# and the pkg-config file.

include(CMakePackageConfigHelpers)

# Only these headers are the interface; the others may change without notice.
set(rtgpu_public_headers
    rtgpu/error.h rtgpu/gpu_policy.h rtgpu/policy.h rtgpu/result.h rtgpu/rtgpu.h rtgpu/time.h
    taskset/document_stream.h taskset/json.h taskset/taskset.h
    taskset/generators/drawn_tasks.h taskset/generators/gcaps_table3.h taskset/generators/preset.h
    taskset/generators/randfixedsum.h taskset/generators/random.h taskset/generators/uunifast.h
    analysis/analysis.h
    analysis/judge.h
    analysis/falsification/attack.h analysis/falsification/counterexample.h
    analysis/simulation/chrome_trace.h analysis/simulation/gantt.h analysis/simulation/scenario.h
    analysis/simulation/schedule.h analysis/simulation/schedule_check.h analysis/simulation/simulator.h
    analysis/simulation/trials.h
    runtime/admission.h runtime/execution_log.h runtime/gpu_status.h runtime/histogram.h runtime/job.h runtime/job_place.h
    runtime/latency_sampler.h
    runtime/measured.h runtime/run_report.h runtime/runtime.h runtime/statistics.h runtime/stream.h runtime/task_setup.h
    runtime/c/rtgpu.h
    runtime/device/device.h runtime/device/device_times.h runtime/device/make_device.h runtime/device/slice_size.h
    runtime/device/sliced_grid.h runtime/device/slicing.h runtime/device/work.h
    runtime/device/cuda/cuda_options.h runtime/device/cuda/measure_kernel.h
    runtime/machine/machine.h runtime/machine/realtime.h runtime/machine/signal.h
    runtime/trace/event_ring.h runtime/trace/schedule_of_trace.h runtime/trace/trace.h runtime/trace/trace_event.h runtime/trace/trace_ring.h)
if(TARGET rtgpu_experiments)
  list(APPEND rtgpu_public_headers
       analysis/experiments/approach.h
       analysis/experiments/chunk_set.h
       analysis/experiments/paper_sweeps.h
       analysis/experiments/run_chunks.h
       analysis/experiments/sweep.h
       analysis/experiments/sweep_state.h)
endif()
# As the sources write them, #include "analysis/analysis.h", under a folder that is this project's alone.
foreach(header IN LISTS rtgpu_public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rtgpu/${folder})
endforeach()

# Shared libraries find each other, and the command finds them, wherever the whole is moved to.
set_target_properties(rtgpu_core rtgpu_taskset rtgpu_analysis rtgpu_runtime PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET rtgpu_experiments)
  set_target_properties(rtgpu_experiments PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
if(TARGET rtgpu_tool)
  file(RELATIVE_PATH libraries_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(rtgpu_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_bin}")
endif()

# A static library passes its own dependencies on to whoever links it.
if(BUILD_SHARED_LIBS)
  set(rtgpu_find_dependencies "")
  set(rtgpu_pc_requires "")
  set(rtgpu_pc_requires_private "fmt")
else()
  set(rtgpu_find_dependencies "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\nfind_dependency(Threads)")
  if(TARGET rtgpu_experiments)
    # For rtgpu::experiments alone: whoever links another library does without.
    string(APPEND rtgpu_find_dependencies "\nfind_package(TBB QUIET)")
  endif()
  set(rtgpu_pc_requires "fmt")
  set(rtgpu_pc_requires_private "")
endif()

set(rtgpu_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rtgpu)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rtgpuConfig.cmake.in ${PROJECT_BINARY_DIR}/rtgpuConfig.cmake
                              INSTALL_DESTINATION ${rtgpu_package_dir})
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rtgpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT rtgpu-targets NAMESPACE rtgpu:: DESTINATION ${rtgpu_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/rtgpuConfig.cmake ${PROJECT_BINARY_DIR}/rtgpuConfigVersion.cmake
        DESTINATION ${rtgpu_package_dir})

# Relative to the file itself, so that `cmake --install --prefix` and a moved folder work.
set(rtgpu_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH rtgpu_pc_prefix ${CMAKE_INSTALL_PREFIX}/${rtgpu_pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" rtgpu_pc_prefix ${rtgpu_pc_prefix})
configure_file(${PROJECT_SOURCE_DIR}/cmake/rtgpu.pc.in ${PROJECT_BINARY_DIR}/rtgpu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rtgpu.pc DESTINATION ${rtgpu_pc_dir})
