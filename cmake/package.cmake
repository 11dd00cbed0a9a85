# A Debian package of the component `program`: `cpack -G DEB` in the folder of a build makes
# graphgate_VERSION_ARCHITECTURE.deb of what is built there. Its dependencies are those that
# dpkg-shlibdeps finds in the program.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME graphgate)
set(CPACK_PACKAGE_VENDOR graphgate)
set(CPACK_PACKAGE_CONTACT "graphgate maintainers <maintainers@graphgate.invalid>" CACHE STRING
    "Who answers for packages: NAME <ADDRESS>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};graphgate;program;/")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# The adapters are Python; --device emulated compiles with g++.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3 (>= 3.10), g++, bash-completion")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"graphgate tells whether a graph executor that partitions, fuses, mutates,
reuses memory and replays CUDA graphs still computes what the graph says.
Programs come from torch.export.
.
With it come adapters for PyTorch, vLLM, ExecuTorch and ONNX Runtime, and
a corpus of programs and cases.")
# What Debian wants otherwise than the install rules have it.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake")
include(CPack)
