# To be sourced in the folder of the project: `packages ARGUMENTS…` installs Python packages into .venv,
# with uv, which takes a fifth of pip's time.
python3 -m venv .venv
packages() {
    .venv/bin/python -c "import uv" &>/dev/null ||
        .venv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
    .venv/bin/uv pip install --quiet --python .venv/bin/python "$@"
}
