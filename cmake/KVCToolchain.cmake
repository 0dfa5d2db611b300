# The tool chain: LLVM, MLIR and lld 22.1 as Debian (or Homebrew) packages them,
# yaml-cpp, and the flags that all of kvc is built with.

if(KVC_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(architectures ${CMAKE_OSX_ARCHITECTURES})
if(NOT architectures)
  set(architectures ${CMAKE_SYSTEM_PROCESSOR})
endif()
if(APPLE AND NOT "${architectures}" STREQUAL "arm64")
  message(FATAL_ERROR "kvc makes libraries for Macs with Apple's CPUs (arm64) and \
is built for these alone, not for '${architectures}'")
endif()

# "22" alone is rejected by MLIR's version file.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)
find_package(yaml-cpp REQUIRED)
# Before 0.8 its target had no namespace; from 0.10 on it has no other name.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# Programs find LLVM where the build found it. CMake says so itself only of
# folders that the compiler does not look in, as clang does where its libc++ is.
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# mlir_tablegen reads this directory property, so target_include_directories
# would not do.
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # One precompiled header serves many targets; its dates are not in its key.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-instantiate-templates>)
endif()
# RTTI stays at its default, which is what Debian's LLVM is built with.
set(KVC_CXX_FLAGS -fno-exceptions)

set(KVC_SANITIZE "" CACHE STRING "Sanitizers of the native build, as -fsanitize= takes them")
if(KVC_SANITIZE)
  add_compile_options(-fsanitize=${KVC_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KVC_SANITIZE})
endif()
