# To be sourced in the folder of the project: `packages ARGUMENTS…` installs Python packages into .venv,
# with uv, which takes a fifth of pip's time. Scripts that run at the same time wait for each other.
packages() (
    exec 9<scripts/python.bash
    if command -v flock >/dev/null; then flock 9; fi # macOS has none
    if ! .venv/bin/python -c "import uv" &>/dev/null; then
        python3 -m venv .venv
        .venv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
    fi
    export UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-180} # s
    if [ -n "${PIP_INDEX_URL:-}" ]; then export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}; fi
    .venv/bin/uv pip install --quiet --python .venv/bin/python "$@"
)
