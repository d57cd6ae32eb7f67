# Finds Anti-Grain Geometry, which draws pictures: AGG::AGG. Debian has it as a static library, the
# one for programs that may be loaded anywhere by a name of its own.
find_path(AGG_INCLUDE_DIR agg_basics.h PATH_SUFFIXES agg2)
find_library(AGG_LIBRARY NAMES agg_pic agg)
mark_as_advanced(AGG_INCLUDE_DIR AGG_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AGG
  REQUIRED_VARS AGG_LIBRARY AGG_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libagg-dev")

if(AGG_FOUND AND NOT TARGET AGG::AGG)
  add_library(AGG::AGG UNKNOWN IMPORTED)
  set_target_properties(AGG::AGG PROPERTIES
    IMPORTED_LOCATION ${AGG_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${AGG_INCLUDE_DIR})
endif()
