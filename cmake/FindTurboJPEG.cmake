# Finds libjpeg-turbo's TurboJPEG library: TurboJPEG::TurboJPEG.
#
# Not through the package's own libjpeg-turboConfig.cmake: Debian's refers to libjpeg.a, which another
# package (libjpeg62-turbo-dev) brings, and stops where that one is missing.
find_path(TurboJPEG_INCLUDE_DIR turbojpeg.h)
find_library(TurboJPEG_LIBRARY turbojpeg)
mark_as_advanced(TurboJPEG_INCLUDE_DIR TurboJPEG_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TurboJPEG
  REQUIRED_VARS TurboJPEG_LIBRARY TurboJPEG_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libturbojpeg0-dev")

if(TurboJPEG_FOUND AND NOT TARGET TurboJPEG::TurboJPEG)
  add_library(TurboJPEG::TurboJPEG UNKNOWN IMPORTED)
  set_target_properties(TurboJPEG::TurboJPEG PROPERTIES
    IMPORTED_LOCATION ${TurboJPEG_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${TurboJPEG_INCLUDE_DIR})
endif()
