# The tool with its Python package, and FMPy to run FMUs. The wheel of the processor is in the build
# context: scripts/wheel leaves it in target/wheels. (scripts/container builds and tries the image.)
#
#   docker build --tag grapple .
#   docker run --rm --user "$(id -u)" --volume "$PWD:/work" grapple build my_arm.toml
#   docker run --rm --user "$(id -u)" --volume "$PWD:/work" --entrypoint python grapple my_study.py
ARG PYTHON=python:3.13-slim

# FMPy needs CMake only to compile FMUs that contain source code.
FROM ${PYTHON} AS installed
COPY target/wheels/*manylinux*.whl /wheels/
RUN python3 -m venv /opt/grapple \
    && /opt/grapple/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        /wheels/*manylinux*_"$(uname -m)".whl fmpy==0.3.32 \
    && /opt/grapple/bin/python -m pip uninstall --yes cmake pip

FROM ${PYTHON}
COPY --from=installed /opt/grapple /opt/grapple
ENV PATH=/opt/grapple/bin:$PATH
# The folder of the user's files; anybody may be the user.
RUN useradd --uid 1000 --create-home grapple && install --directory --owner=grapple /work
WORKDIR /work
USER 1000
ENTRYPOINT ["grapple"]
CMD ["--help"]
