# Finds dygraphs, the charts of reports: Dygraphs_SCRIPT and Dygraphs_STYLE, files to embed.
find_file(Dygraphs_SCRIPT dygraph.min.js PATHS /usr/share/javascript/dygraphs)
find_file(Dygraphs_STYLE dygraph.min.css PATHS /usr/share/javascript/dygraphs)
mark_as_advanced(Dygraphs_SCRIPT Dygraphs_STYLE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dygraphs
  REQUIRED_VARS Dygraphs_SCRIPT Dygraphs_STYLE
  REASON_FAILURE_MESSAGE "Debian: apt-get install libjs-dygraphs")
