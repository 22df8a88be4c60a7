# To be sourced in the folder of the project: installs Zig, and cargo's interface to it, into .venv
# and puts them on the PATH.
source scripts/python.bash
packages ziglang==0.17.0 cargo-zigbuild==0.24.0
export PATH="$PWD/.venv/bin:$PATH"
