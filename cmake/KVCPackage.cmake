# cpack: what cmake --install installs as a Debian package, or elsewhere as an
# archive. Only where kvc is the project itself: cpack is a project's own.

if(NOT KVC_IS_TOP_LEVEL)
  return()
endif()

set(CPACK_GENERATOR TGZ)
if(EXISTS /etc/debian_version)
  set(CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME kvc)
set(CPACK_PACKAGE_VENDOR kvc)
# Another is given by cpack -D CPACK_PACKAGE_CONTACT="Name <address>".
set(CPACK_PACKAGE_CONTACT "kvc developers <kvc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for KV caches")
set(CPACK_PACKAGE_DESCRIPTION
"A YAML file says what a model's attention looks like and how its KV cache is
to be kept. kvc compiles it to a library of attention kernels for decode and
prefill with a C interface. The library needs nothing but the C library.
.
This package has the compiler, its C header, a CMake package, a language
server for its dialect, ready specs and the documentation.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_SOURCE_IGNORE_FILES "/[.]git/;/build[^/]*/")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What runs libraries for aarch64 and macOS.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "qemu-user, libc6-arm64-cross")
# CPACK_DEBIAN_PACKAGE_SHLIBDEPS would ask for the libraries of the programs for
# aarch64 too: which programs are asked, this script says.
set(CPACK_KVC_LLVM_LIBRARY_DIR ${LLVM_LIBRARY_DIR})
set(CPACK_PRE_BUILD_SCRIPTS
  ${PROJECT_SOURCE_DIR}/packaging/debian/BeforePackage.cmake)

include(CPack)
