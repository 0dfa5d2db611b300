# Programs for aarch64 Linux, which run under an emulator.

find_program(KVC_CLANG NAMES clang-22 clang HINTS ${LLVM_TOOLS_BINARY_DIR}
  REQUIRED)
set(KVC_AARCH64_CLANG ${KVC_CLANG} --target=aarch64-linux-gnu)
set(KVC_AARCH64_FLAGS -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra
  -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/runtime/include)
# Asked anew at each configure: what was missing may have been installed.
set(KVC_HAS_AARCH64 TRUE)
file(WRITE ${PROJECT_BINARY_DIR}/aarch64-probe.c
  "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
execute_process(
  COMMAND ${KVC_AARCH64_CLANG} -fuse-ld=lld ${KVC_AARCH64_FLAGS}
          -o ${PROJECT_BINARY_DIR}/aarch64-probe
          ${PROJECT_BINARY_DIR}/aarch64-probe.c
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  set(KVC_HAS_AARCH64 FALSE)
  message(STATUS "No C library for aarch64: its libraries will not be run")
endif()

# kvc_add_aarch64_program(<name> <source> ...): build/bin/<name> of C sources,
# where there is a C library for aarch64; nothing elsewhere.
function(kvc_add_aarch64_program name)
  if(NOT KVC_HAS_AARCH64)
    return()
  endif()
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir)
  file(MAKE_DIRECTORY ${folder})
  set(objects)
  foreach(source IN LISTS ARGN)
    get_filename_component(stem ${source} NAME)
    set(object ${folder}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${KVC_AARCH64_CLANG} ${KVC_AARCH64_FLAGS} -c
              -MD -MF ${object}.d -MT ${object} -o ${object} ${source}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${stem} for ${name}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(OUTPUT ${program}
    COMMAND ${KVC_AARCH64_CLANG} -fuse-ld=lld -pthread -o ${program} ${objects}
    DEPENDS ${objects}
    COMMENT "Linking ${name}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()
