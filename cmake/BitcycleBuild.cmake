# Build settings shared by every Bitcycle target, applied per target so that a parent project's
# flags stay its own.
include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(CCACHE ccache)
  if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # As ccache's manual wants it for precompiled headers, and for hits in another checkout: paths below
    # this one are taken as relative, and time stamps do not count, since a clone's are all new.
    set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness}
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  endif()
endif()

# Applies the language level, the warnings and the floating-point rules to one target.
# -ffp-contract=off: the quantizers promise the same integers on every instruction set, so no
# compiler may fuse a multiply and an add into one rounding.
function(bitcycle_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Options structs are initialised by naming the fields that differ from their defaults.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math)
  if(BITCYCLE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(BITCYCLE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${BITCYCLE_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${BITCYCLE_SANITIZE})
  endif()
endfunction()

# GCC from 13 on sees vectors' bounds overstepped in the standard library where LibTorch's templates are inlined
# into a caller (autograd's Function::apply), which no include path silences: the code is the caller's by then.
# GCC 12, with which no warning may be left, has both warnings on.
function(bitcycle_silence_torch_templates target)
  set(newer $<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>)
  target_compile_options(${target} PRIVATE $<${newer}:-Wno-array-bounds> $<${newer}:-Wno-stringop-overflow>)
endfunction()

# Gives the torch layer its precompiled header. It is named as it is included, so that the generated
# file is the same in every checkout.
function(bitcycle_make_torch_headers target)
  target_precompile_headers(${target} PRIVATE <bitcycle/quant/torch.h>)
  bitcycle_tell_ccache_of_headers(${target})
  bitcycle_silence_torch_templates(${target})
endfunction()

# GCC otherwise leaves no trace of the precompiled header in its preprocessed output.
function(bitcycle_tell_ccache_of_headers target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# Lets a program use the torch layer's precompiled header. A program would be compiled with -fPIE, the
# header was with -fPIC, and the compiler insists that both agree.
function(bitcycle_use_torch_headers target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM bitcycle_torch)
  bitcycle_tell_ccache_of_headers(${target})
  bitcycle_silence_torch_templates(${target})
endfunction()
