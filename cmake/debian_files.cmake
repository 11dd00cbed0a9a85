# Run by cpack on the files that a package is made of: manual pages are compressed, zsh's completion
# lies where Debian's zsh looks, and a changelog and a statement of copyrights are there.
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}")
set(documents "${root}/share/doc/graphgate")

function(compress)
  execute_process(COMMAND gzip -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB pages "${root}/share/man/man1/*.1")
compress(${pages})

file(MAKE_DIRECTORY "${root}/share/zsh/vendor-completions")
file(RENAME "${root}/share/zsh/site-functions/_graphgate"
     "${root}/share/zsh/vendor-completions/_graphgate")
file(REMOVE_RECURSE "${root}/share/zsh/site-functions")

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${documents}/changelog"
"graphgate (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Package of version ${CPACK_PACKAGE_VERSION}; `graphgate --version` says the commit.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
compress("${documents}/changelog")

# The headers and static libraries that the program is compiled of, as far as packages brought them.
set(text
"This package was made of the sources of graphgate ${CPACK_PACKAGE_VERSION} by cpack. The sources state no
licence: ask their authors before you pass the package on.

The program holds code of these libraries, under the terms that stand below.
")
foreach(library IN ITEMS libabsl-dev libboost-dev libcli11-dev libgoogle-perftools-dev nlohmann-json3-dev)
  set(terms "/usr/share/doc/${library}/copyright")
  if(EXISTS "${terms}")
    file(READ "${terms}" terms)
    string(APPEND text "\n---- ${library} ----\n\n${terms}")
  endif()
endforeach()
file(WRITE "${documents}/copyright" "${text}")
file(CHMOD_RECURSE "${documents}" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
     WORLD_EXECUTE)
