#!/bin/sh
# Compiles the programs that time Pinocchio and MuJoCo (the peers).
#
#   build.sh VENV OUT [FLAG...]
#
# VENV has requirements.txt installed; OUT receives the programs. FLAGs replace the default
# "-O3 -march=native -DNDEBUG". CXX chooses the compiler (default g++).
# Three builds of the Pinocchio peer:
#   pinocchio_aba         instantiated here with the FLAGs;
#   pinocchio_aba_novec   the same with -DEIGEN_DONT_VECTORIZE: Eigen's explicit vectorisation does
#                         not suit 3- and 6-vectors, scalar code with the FLAGs (FMA!) is faster;
#   pinocchio_aba_wheel   calls the aba that is compiled into the wheel's library; always built
#                         for plain x86-64, whatever the FLAGs (see pinocchio_aba.cpp).
# Instantiating Pinocchio's templates takes g++ one to two minutes and 2 GB of memory, twice.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: build.sh VENV OUT [FLAG...]" >&2; exit 2; }
venv=$1
out=$2
shift 2
[ $# -gt 0 ] || set -- -O3 -march=native -DNDEBUG
cxx=${CXX:-g++}

site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cmeel=$site/cmeel.prefix
mujoco=$site/mujoco
mujoco_so=$(basename "$(ls "$mujoco"/libmujoco.so.* | head -n 1)")
mkdir -p "$out"

# Headers of dependencies count as system headers, so that their warnings are not reported. The
# definitions are those of the wheel's own CMake target pinocchio::pinocchio_headers (its variants
# have more members than Boost.MPL's default limits allow).
# With AVX-512, packets of eight over six-vectors make g++ 12 warn (falsely, inside its own
# intrinsics headers) about array bounds and uninitialised values.
pin_flags="-std=c++17 -Wno-array-bounds -Wno-stringop-overread
  -Wno-uninitialized -Wno-maybe-uninitialized -isystem $cmeel/include -isystem $cmeel/include/eigen3
  -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30
  -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -DBOOST_FUSION_INVOKE_MAX_ARITY=12"

echo "building with $cxx $*" >&2
# shellcheck disable=SC2086 # pin_flags is a list
"$cxx" -Wall -Wextra "$@" $pin_flags "$here/pinocchio_aba.cpp" -o "$out/pinocchio_aba"
# shellcheck disable=SC2086
"$cxx" -Wall -Wextra "$@" -DEIGEN_DONT_VECTORIZE $pin_flags "$here/pinocchio_aba.cpp" \
  -o "$out/pinocchio_aba_novec"
"$cxx" -std=c++17 -Wall -Wextra "$@" -isystem "$mujoco/include" "$here/mujoco_forward.cpp" \
  -o "$out/mujoco_forward" -L"$mujoco" -l:"$mujoco_so" -Wl,-rpath,"$mujoco"
# shellcheck disable=SC2086
"$cxx" -Wall -Wextra -O3 -DNDEBUG $pin_flags \
  -DPEER_WHEEL_ABA -DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION \
  "$here/pinocchio_aba.cpp" -o "$out/pinocchio_aba_wheel" \
  -L"$cmeel/lib" -lpinocchio_default -lboost_serialization -Wl,-rpath,"$cmeel/lib"
