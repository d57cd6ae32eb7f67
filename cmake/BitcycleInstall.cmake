# Install rules and the package that find_package(bitcycle) finds. Components: core, and torch when
# the LibTorch layer was built.
include(CMakePackageConfigHelpers)

set(libraries bitcycle_core)
if(BITCYCLE_TORCH)
  list(APPEND libraries bitcycle_torch)
endif()
install(TARGETS ${libraries} EXPORT bitcycleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT bitcycleTargets NAMESPACE bitcycle::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bitcycle)
install(DIRECTORY include/bitcycle ${PROJECT_BINARY_DIR}/include/bitcycle
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

if(BITCYCLE_CLI)
  install(TARGETS bitcycle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(BITCYCLE_TORCH)
    install(TARGETS bitcycle-torch RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/bitcycle)
  endif()
  install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/bitcycle)
endif()

configure_package_config_file(cmake/bitcycleConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bitcycleConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bitcycle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bitcycleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bitcycleConfig.cmake
              ${PROJECT_BINARY_DIR}/bitcycleConfigVersion.cmake
              cmake/FindAGG.cmake cmake/FindTurboJPEG.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bitcycle)
