# cmake --install: the tools, the C interface, a CMake package, kvc.pc, the JSON
# Schema of specs, and completions of shells. All of it may be moved as a whole.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kvc)
# Not where an architecture's libraries are: it names none, and stays two
# folders below the prefix.
set(pkgconfig ${CMAKE_INSTALL_DATADIR}/pkgconfig)

# By these names a project has them that has kvc as a folder of its own.
add_executable(kvc::kvc ALIAS kvc)
add_library(kvc-headers INTERFACE)
add_library(kvc::headers ALIAS kvc-headers)
set_target_properties(kvc-headers PROPERTIES EXPORT_NAME headers)
target_include_directories(kvc-headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set_target_properties(kvc kvc-opt kvc-lsp-server PROPERTIES
  INSTALL_RPATH "${LLVM_LIBRARY_DIR}" INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS kvc kvc-headers EXPORT kvcTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS kvc-opt kvc-lsp-server
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES runtime/include/kvc/kvc.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvc)

configure_package_config_file(cmake/kvcConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kvcConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT kvcTargets NAMESPACE kvc:: DESTINATION ${package})
install(FILES cmake/kvcAddLibrary.cmake
  ${PROJECT_BINARY_DIR}/kvcConfig.cmake
  ${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake
  DESTINATION ${package})

configure_file(cmake/kvc.pc.in ${PROJECT_BINARY_DIR}/kvc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kvc.pc DESTINATION ${pkgconfig})

# Made by the tool from its own table of keys.
set(schema ${PROJECT_BINARY_DIR}/spec.schema.json)
add_custom_command(OUTPUT ${schema}
  COMMAND kvc schema -o ${schema}
  DEPENDS kvc
  COMMENT "Generating the JSON Schema of specs"
  VERBATIM)
add_custom_target(kvc-schema ALL DEPENDS ${schema})
install(FILES ${schema} DESTINATION ${CMAKE_INSTALL_DATADIR}/kvc)

# Likewise of its tables of commands and flags.
set(completions ${PROJECT_BINARY_DIR}/completions)
set(made)
foreach(shell bash zsh fish)
  set(file ${completions}/kvc.${shell})
  add_custom_command(OUTPUT ${file}
    COMMAND kvc completions ${shell} -o ${file}
    DEPENDS kvc
    COMMENT "Generating completions for ${shell}"
    VERBATIM)
  list(APPEND made ${file})
endforeach()
file(MAKE_DIRECTORY ${completions})
add_custom_target(kvc-completions ALL DEPENDS ${made})
install(FILES ${completions}/kvc.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kvc)
install(FILES ${completions}/kvc.zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _kvc)
install(FILES ${completions}/kvc.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
