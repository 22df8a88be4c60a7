"""A study of `grapple campaign` on a Dask cluster.

The tool writes the parameters and inputs of all runs as a table, FMPy makes the runs in the
cluster's workers, and the resulting table has the columns of the tool's own:

    grapple build examples/docking.toml
    grapple campaign examples/campaign/docking.toml --plan > plan.csv
    python examples/campaign/on_dask.py docking.fmu examples/campaign/docking.toml plan.csv --output runs.csv

Without --scheduler the cluster consists of processes on this machine. Workers receive the FMU's
path, which they must be able to read, and the runs' numbers; each worker unpacks the FMU once and
makes an instance for every run. Needs fmpy, pandas and dask[distributed]. An input keeps the value
that the plan gives it: signals that `grapple` feeds from outside (`from_importer`) are not in a
plan.
"""

import argparse
import functools
import math
import tempfile
import tomllib
from pathlib import Path

import fmpy
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster, get_worker
from fmpy import fmi2
from fmpy.fmi1 import FMICallException


def unpacked(fmu):
    """Returns the model description and the folder of an FMU, unpacked once in each worker."""
    worker = get_worker()
    kept = vars(worker).setdefault("campaign", {})
    key = fmu, Path(fmu).stat().st_mtime_ns
    if key not in kept:
        kept[key] = fmpy.read_model_description(fmu), fmpy.extract(fmu, tempfile.mkdtemp(dir=worker.local_directory))
    return kept[key]


def points(stop, step):
    """Returns the communication points after the start: multiples of the step, and the end."""
    whole = math.floor(stop / step * (1 + 1e-12))
    last = whole if stop - whole * step > 1e-9 * step else whole - 1
    return [k * step for k in range(1, last + 1)] + [stop]


def mean(time, values):
    """Returns the time average by the trapezoidal rule, summed in the same order as by the tool."""
    areas = 0.5 * np.diff(time) * (values[:-1] + values[1:])
    return np.add.accumulate(areas)[-1] / (time[-1] - time[0])


STATISTICS = {
    "final": lambda time, values: values[-1],
    "min": lambda time, values: values.min(),
    "max": lambda time, values: values.max(),
    "peak": lambda time, values: np.abs(values).max(),
    "mean": mean,
    "rms": lambda time, values: math.sqrt(mean(time, values * values)),
}


def run(fmu, experiment, outputs, number, settings):
    """Simulates one run; returns a row of the table. `experiment` is (stop time, step, tolerance);
    `settings` are values by variable name."""
    description, folder = unpacked(fmu)
    variables = {variable.name: variable for variable in description.modelVariables}
    references = lambda names: [variables[name].valueReference for name in names]
    stop, step, tolerance = experiment
    said = []
    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(lambda *message: said.append(message[-1].decode()))
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
    slave = fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName=f"run{number}",
    )
    row = {"run": number, **settings}
    slave.instantiate(callbacks=callbacks, loggingOn=True)
    try:
        slave.setDebugLogging(True, ["logStatusError", "logStatusDiscard", "logStatusFatal"])
        slave.setupExperiment(tolerance=tolerance, startTime=0.0, stopTime=stop)
        slave.setReal(references(settings), list(settings.values()))
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        row.update(zip(settings, slave.getReal(references(settings))))
        time, rows = [0.0], [slave.getReal(references(outputs))]
        for point in points(stop, step):
            slave.doStep(currentCommunicationPoint=time[-1], communicationStepSize=point - time[-1])
            time.append(point)
            rows.append(slave.getReal(references(outputs)))
        slave.terminate()
    except FMICallException as error:
        return {**row, "status": "failed", "message": "; ".join(said) or str(error)}
    finally:
        # The library stays loaded for the worker's other runs.
        slave.fmi2FreeInstance(slave.component)
    for name, values in zip(outputs, np.array(rows).T):
        for statistic in outputs[name]:
            if statistic in STATISTICS:
                row[f"{statistic}({name})"] = STATISTICS[statistic](np.array(time), values)
    return {**row, "status": "ok", "message": ""}


def campaign(client, fmu, study, plan):
    """Simulates all runs of a plan; returns a table whose columns have no units."""
    description = fmpy.read_model_description(fmu)
    default = description.defaultExperiment
    wished = study.get("experiment", {})
    experiment = (
        wished.get("stop_time", float(default.stopTime)),
        wished.get("step", float(default.stepSize)),
        wished.get("tolerance", float(default.tolerance)),
    )
    settings = plan.drop(columns="run").to_dict("records")
    of_one = functools.partial(run, str(Path(fmu).resolve()), experiment, study["output"])
    return pd.DataFrame(client.gather(client.map(of_one, plan["run"].tolist(), settings, pure=False)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fmu")
    parser.add_argument("study")
    parser.add_argument("plan", help="what `grapple campaign STUDY --plan` prints")
    parser.add_argument("--output", default="runs.csv")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, as in tcp://host:8786")
    arguments = parser.parse_args()
    study = tomllib.loads(Path(arguments.study).read_text())
    plan = pd.read_csv(arguments.plan)
    plan.columns = plan.columns.str.split(" ").str[0]
    with Client(arguments.scheduler or LocalCluster(threads_per_worker=1, dashboard_address=None)) as client:
        table = campaign(client, arguments.fmu, study, plan)
    table.to_csv(arguments.output, index=False)
    print(f"{arguments.output}: {len(table)} runs, {(table.status == 'failed').sum()} failed")


if __name__ == "__main__":
    main()
