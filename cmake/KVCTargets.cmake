# kvc_add_part(NAME [EXCEPTIONS] SOURCES ... [LINK ...] [DEPENDS ...])
#   A static library of the compiler. Without EXCEPTIONS it sees MLIR, uses the
#   precompiled header and is compiled -fno-exceptions.
# kvc_add_tool(NAME SOURCES ... [LINK ...])
#   A program in build/bin, likewise.

function(kvc_use_mlir target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${KVC_CXX_FLAGS}>)
  if(TARGET KVCPrecompiled)
    target_precompile_headers(${target} REUSE_FROM KVCPrecompiled)
  endif()
endfunction()

function(kvc_add_part name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_EXCEPTIONS)
    kvc_use_mlir(${name})
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    # Generated headers of the dialect, where they are made at all.
    if(TARGET KVCDialectIncGen)
      add_dependencies(${name} KVCDialectIncGen)
    endif()
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(kvc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  kvc_use_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# The precompiled header: MLIR's headers cost 6 to 17 s a file without it.
add_library(KVCPrecompiled STATIC ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
target_compile_options(KVCPrecompiled PRIVATE ${KVC_CXX_FLAGS})
target_precompile_headers(KVCPrecompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)
