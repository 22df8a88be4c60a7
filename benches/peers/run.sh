#!/bin/sh
# Times grapple and its peers (Pinocchio, MuJoCo) on the same chains in the same rounds: virtual
# environment, requirements, build, chains, check, timing.
#
#   run.sh WORK [FLAG...]      WORK is created or reused; its programs are rebuilt only if their
#                              sources, the compiler or the FLAGs have changed;
#                              FLAGs replace the compile flags (see build.sh).
# Environment:
#   NS       numbers of joints               (2 6 12 25 50 100 200 400)
#   DERIVATIVES_NS  the same for derivatives   (6 12 25 50)
#   ROUNDS   how often each program runs       (3)
#   SECONDS_PER_CHAIN  measuring time per n    (0.5)
#   CHAINS   a folder of chain files chain_<n>.txt to use instead of writing them
#   PYTHON   interpreter that creates the virtual environment (python3)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh WORK [FLAG...]" >&2; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
root=$(cd "$here/../.." && pwd)
ns=${NS:-2 6 12 25 50 100 200 400}
derivatives_ns=${DERIVATIVES_NS:-6 12 25 50}
rounds=${ROUNDS:-3}
seconds=${SECONDS_PER_CHAIN:-0.5}
venv=$work/venv
build=$work/build

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
# Rebuilt if the sources, the fixed versions, the compiler or its flags have changed.
made_of=$({ cat "$here/build.sh" "$here"/*.cpp "$here/chain.hpp" "$here/requirements.txt"
  "${CXX:-g++}" --version; echo "$@"; } | sha256sum)
[ "$made_of" = "$(cat "$build/made_of" 2>/dev/null)" ] || {
  "$here/build.sh" "$venv" "$build" "$@"
  echo "$made_of" > "$build/made_of"
}
cargo bench --quiet --manifest-path "$root/Cargo.toml" --bench forward_dynamics --no-run

# The check always uses generated chains; the timing may use the caller's files.
# shellcheck disable=SC2086 # ns is a list
"$venv/bin/python" "$here/chains.py" "$work/chains" 2 6 12 25 $ns $derivatives_ns
"$venv/bin/python" "$here/compare.py" "$build" "$work/chains" 2 6 12 25
chains=${CHAINS:-$work/chains}

# Pinocchio in six variants: two recursions (local is the default of aba) in each of the three
# builds of build.sh. The table's last column compares with the fastest variant for each n.
one() {  # file stem, program, its arguments
  stem=$1
  program=$2
  shift 2
  "$build/$program" --dir "$chains" --seconds "$seconds" "$@" >> "$work/times_$stem.txt"
}

# Rounds alternate between the programs, so that a slow period of the machine (other load, a lower
# clock) affects all of them.
rm -f "$work"/times_*.txt
grapple() {
  cargo bench --quiet --manifest-path "$root/Cargo.toml" --bench forward_dynamics -- \
    --dir "$chains" --seconds "$seconds" "$1" >> "$work/times_grapple.txt"
}
round=1
while [ "$round" -le "$rounds" ]; do
  for n in $ns; do
    grapple "$n"
    one local pinocchio_aba --convention=local "$n"
    one world pinocchio_aba --convention=world "$n"
    one novec_local pinocchio_aba_novec --convention=local "$n"
    one novec_world pinocchio_aba_novec --convention=world "$n"
    one wheel_local pinocchio_aba_wheel --convention=local "$n"
    one wheel_world pinocchio_aba_wheel --convention=world "$n"
    one mujoco mujoco_forward "$n"
  done
  for n in $derivatives_ns; do
    cargo bench --quiet --manifest-path "$root/Cargo.toml" --bench forward_dynamics -- \
      --dir "$chains" --seconds "$seconds" --derivatives "$n" >> "$work/times_d_grapple.txt"
    one d_native pinocchio_aba --derivatives "$n"
    one d_novec pinocchio_aba_novec --derivatives "$n"
    one d_wheel pinocchio_aba_wheel --derivatives "$n"
  done
  round=$((round + 1))
done

"$venv/bin/python" "$here/table.py" "grapple=$work/times_grapple.txt" \
  "aba local=$work/times_local.txt" "aba world=$work/times_world.txt" \
  "novec local=$work/times_novec_local.txt" "novec world=$work/times_novec_world.txt" \
  "wheel local=$work/times_wheel_local.txt" "wheel world=$work/times_wheel_world.txt" \
  "mj_forward=$work/times_mujoco.txt"

echo "accelerations by states: grapple's state Jacobian, Pinocchio's computeABADerivatives (by torques too)"
"$venv/bin/python" "$here/table.py" "grapple=$work/times_d_grapple.txt" \
  "native=$work/times_d_native.txt" "novec=$work/times_d_novec.txt" "wheel=$work/times_d_wheel.txt"
