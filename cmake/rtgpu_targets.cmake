# How every target of this project is compiled, and how a library of it is made.

add_library(rtgpu_options INTERFACE)
target_compile_features(rtgpu_options INTERFACE cxx_std_20)
# CUDA code has options of its own: nvcc does not take these.
target_compile_options(rtgpu_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  # GCC 12 warns of overlapping copies inside std::string's own operator+ when it optimises (GCC bug 105651).
  target_compile_options(rtgpu_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(RTGPU_WARNINGS_AS_ERRORS)
  target_compile_options(rtgpu_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(RTGPU_SANITIZE)
  target_compile_options(rtgpu_options INTERFACE -fsanitize=${RTGPU_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(rtgpu_options INTERFACE -fsanitize=${RTGPU_SANITIZE})
endif()

# rtgpu_library(NAME FOLDER SOURCES ... [LINK targets of this project] [PRIVATE_LINK others])
# makes the library rtgpu_NAME with the alias rtgpu::NAME, installed with the headers of FOLDER.
function(rtgpu_library name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(rtgpu_${name} ${ARG_SOURCES})
  add_library(rtgpu::${name} ALIAS rtgpu_${name})
  set_target_properties(rtgpu_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
                                                 VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(rtgpu_${name} PUBLIC cxx_std_20)
  target_include_directories(rtgpu_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/rtgpu>)
  target_link_libraries(rtgpu_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK} $<BUILD_INTERFACE:rtgpu_options>)
  install(TARGETS rtgpu_${name} EXPORT rtgpu-targets)
endfunction()
