# To be sourced in the folder of the project: `packages ARGUMENTS…` installs Python packages into .venv,
# with uv, which takes a fifth of pip's time. Scripts that run at once wait for each other.
packages() (
    exec 9<scripts/python.bash
    flock 9
    if [ ! -x .venv/bin/uv ]; then
        python3 -m venv .venv
        .venv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
    fi
    .venv/bin/uv pip install --quiet --python .venv/bin/python "$@"
)
