# Finds cpp-httplib as Debian builds it, a shared library: Httplib::Httplib. Its own pkg-config file
# would need pkg-config installed; what it says of the compiler's flags stands here.
find_path(Httplib_INCLUDE_DIR httplib.h)
find_library(Httplib_LIBRARY cpp-httplib)
mark_as_advanced(Httplib_INCLUDE_DIR Httplib_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib
  REQUIRED_VARS Httplib_LIBRARY Httplib_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libcpp-httplib-dev")

if(Httplib_FOUND AND NOT TARGET Httplib::Httplib)
  add_library(Httplib::Httplib UNKNOWN IMPORTED)
  set_target_properties(Httplib::Httplib PROPERTIES
    IMPORTED_LOCATION ${Httplib_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Httplib_INCLUDE_DIR}
    # The library was built with these, and they change the classes that both sides see.
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
endif()
