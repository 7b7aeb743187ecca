# `cmake --build build/release --target package` makes vedette_VERSION_ARCHITECTURE.deb in the build directory: the stripped
# binary with the libraries it needs as dependencies, the unit and its settings of deploy/, the manual pages, the documents
# that the unit names, and the scripts of deploy/package. tests/e2e/test_package.py installs, upgrades and purges it. The same
# commit, compiler and libraries make the same bytes (PackageTime.cmake; -fmacro-prefix-map in CMakeLists.txt).
# (dpkg-dev and file are needed to make it; both are in scripts/packages.)

# The manual pages are what the binary says of itself, so that they cannot be out of date.
set(VEDETTE_MANUAL "${CMAKE_BINARY_DIR}/manual")
add_custom_command(
  OUTPUT "${VEDETTE_MANUAL}/vedette.1.gz" "${VEDETTE_MANUAL}/vedette-ctl.1.gz" "${VEDETTE_MANUAL}/vedette.toml.5.gz"
  COMMAND "${CMAKE_SOURCE_DIR}/scripts/manual_pages" "$<TARGET_FILE:vedette>" "${VEDETTE_MANUAL}"
  DEPENDS vedette "${CMAKE_SOURCE_DIR}/scripts/manual_pages"
  COMMENT "Writing the manual pages"
  VERBATIM)
add_custom_target(manual ALL DEPENDS "${VEDETTE_MANUAL}/vedette.1.gz")

set(documentation share/doc/vedette)
install(TARGETS vedette RUNTIME DESTINATION bin)
install(FILES "${VEDETTE_MANUAL}/vedette.1.gz" "${VEDETTE_MANUAL}/vedette-ctl.1.gz" DESTINATION share/man/man1)
install(FILES "${VEDETTE_MANUAL}/vedette.toml.5.gz" DESTINATION share/man/man5)
install(FILES deploy/vedette.service DESTINATION lib/systemd/system)
install(FILES deploy/vedette.env DESTINATION /etc/vedette)
install(FILES deploy/package/copyright deploy/vedette-rendering.conf CHANGELOG.md docs/operations.md DESTINATION ${documentation})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vedette)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The vedette maintainers <vedette@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "watches rows of subjects and sends signed webhooks")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_SOURCE_DIR}/cmake/PackageTime.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Checks rows of subjects on a schedule, looks up addresses and people, runs\nworkflows over rows, and tells what changed by signed webhooks. An HTTP API\nfor tenants and a port for the operator, behind one PostgreSQL.")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the binary does not link: certificate authorities for pages and receivers, useradd for the scripts, time zones.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ca-certificates, passwd, tzdata")
# poppler reads PDFs, with its data those in Chinese, Japanese and Korean.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "postgresql (>= 15), poppler-utils, poppler-data")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/deploy/package/conffiles" "${CMAKE_SOURCE_DIR}/deploy/package/postinst"
    "${CMAKE_SOURCE_DIR}/deploy/package/prerm" "${CMAKE_SOURCE_DIR}/deploy/package/postrm")
include(CPack)
