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
# TARGET is what kvc compile's --target takes.
#
#===------------------------------------------------------------------------===#

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
  set(target)
  if(DEFINED arg_TARGET)
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
