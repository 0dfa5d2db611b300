#===- kvcAddLibrary.cmake - a spec as a library of somebody's project ------===#
#
# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
#   kvc_add_library(<target> SPEC <spec.yaml> [STATIC|SHARED] [TARGET <name>])
#
# compiles the spec to a library that other targets link to as <target>; they
# include "<target>.h". It is made anew when the spec or the compiler changes.
# Without STATIC or SHARED, BUILD_SHARED_LIBS decides, as for add_library().
# TARGET is what kvc compile's --target takes. Without it the library is for
# what the project is compiled for, a toolchain file's machine too.
#
#===------------------------------------------------------------------------===#

# The system and the processor that the project is compiled for.
function(kvc_machine_of_project system processor)
  set(triple "${CMAKE_CXX_COMPILER_TARGET}")
  if(NOT triple)
    set(triple "${CMAKE_C_COMPILER_TARGET}")
  endif()
  set(name "${CMAKE_SYSTEM_NAME}")
  set(cpu "${CMAKE_SYSTEM_PROCESSOR}")
  if(APPLE AND CMAKE_OSX_ARCHITECTURES)
    set(cpu "${CMAKE_OSX_ARCHITECTURES}")
  elseif(triple)
    string(REGEX REPLACE "-.*" "" cpu "${triple}")
    if(triple MATCHES "-(macos|darwin)")
      set(name Darwin)
    elseif(triple MATCHES "-linux-android")
      set(name Android)
    elseif(triple MATCHES "-linux")
      set(name Linux)
    endif()
  endif()
  string(TOLOWER "${cpu}" cpu)
  string(REGEX REPLACE "^amd64$" "x86_64" cpu "${cpu}")
  string(REGEX REPLACE "^aarch64$" "arm64" cpu "${cpu}")
  set(${system} "${name}" PARENT_SCOPE)
  set(${processor} "${cpu}" PARENT_SCOPE)
endfunction()

# What kvc compile's --target is to be for the project; "" is this machine. An
# error where kvc makes no code for it.
function(kvc_target_of_project name result)
  kvc_machine_of_project(system processor)
  string(TOLOWER "${CMAKE_HOST_SYSTEM_PROCESSOR}" host)
  string(REGEX REPLACE "^amd64$" "x86_64" host "${host}")
  string(REGEX REPLACE "^aarch64$" "arm64" host "${host}")
  set(machine "${system} ${processor}")
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    string(APPEND machine " of 32 bits")
  endif()
  if(machine STREQUAL "${CMAKE_HOST_SYSTEM_NAME} ${host}")
    set(target "")
  elseif(machine STREQUAL "Linux x86_64")
    set(target x86-64-v3)
  elseif(machine STREQUAL "Linux arm64")
    set(target aarch64-linux)
  elseif(machine STREQUAL "Darwin arm64")
    set(target arm64-apple-macos)
  else()
    message(FATAL_ERROR "kvc_add_library(${name}): the project is compiled for \
${machine}, and kvc makes libraries for Linux on x86_64 and arm64 and for macOS \
on arm64; where one of them serves, name it with TARGET")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

function(kvc_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED" "SPEC;TARGET" "")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "kvc_add_library(${name}): unknown '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT DEFINED arg_SPEC)
    message(FATAL_ERROR "kvc_add_library(${name}): SPEC is not given")
  endif()
  if(arg_STATIC AND arg_SHARED)
    message(FATAL_ERROR "kvc_add_library(${name}): STATIC or SHARED, not both")
  endif()
  get_filename_component(spec ${arg_SPEC} ABSOLUTE)
  if(NOT EXISTS ${spec})
    message(FATAL_ERROR "kvc_add_library(${name}): there is no ${spec}")
  endif()

  if(arg_SHARED OR (BUILD_SHARED_LIBS AND NOT arg_STATIC))
    set(kind SHARED)
  else()
    set(kind STATIC)
  endif()
  # A folder of its own: it is the include directory.
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.kvc)
  file(MAKE_DIRECTORY ${directory})
  set(library ${directory}/${name}${CMAKE_${kind}_LIBRARY_SUFFIX})
  set(header ${directory}/${name}.h)
  if(NOT DEFINED arg_TARGET)
    kvc_target_of_project(${name} arg_TARGET)
  endif()
  set(target)
  if(arg_TARGET)
    set(target --target ${arg_TARGET})
  endif()
  add_custom_command(
    OUTPUT ${library} ${header}
    COMMAND kvc::kvc compile ${spec} -o ${library} ${target}
    DEPENDS ${spec} $<TARGET_FILE:kvc::kvc>
    COMMENT "Compiling ${arg_SPEC} to ${name}${CMAKE_${kind}_LIBRARY_SUFFIX}"
    VERBATIM)
  add_custom_target(${name}_kvc DEPENDS ${library} ${header})

  add_library(${name} ${kind} IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_kvc)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION ${library}
    INTERFACE_INCLUDE_DIRECTORIES ${directory})
  if(kind STREQUAL SHARED)
    # As in the library; by @rpath CMake knows that programs need its folder.
    set(soname ${name}${CMAKE_SHARED_LIBRARY_SUFFIX})
    if(APPLE)
      set(soname @rpath/${soname})
    endif()
    set_target_properties(${name} PROPERTIES IMPORTED_SONAME ${soname})
  endif()
endfunction()
