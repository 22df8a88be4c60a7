"""A run as an MCAP file, for Foxglove and Rerun."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import GrappleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._result import Result


def write(result: Result, path: Path) -> None:
    """Writes the variables, poses and events of a run; see `Result.to_mcap`."""
    try:
        from foxglove_schemas_protobuf import FrameTransforms_pb2, Log_pb2
        from mcap_protobuf.writer import Writer
    except ImportError:
        raise ImportError("to_mcap needs packages for MCAP: pip install 'grapple-fmu[mcap]'") from None
    time = [round(1e9 * t) for t in result.time]
    poses, owners = _poses(result), _owners(result)
    messages = {owner: _message(owner, fields) for owner, fields in owners.items()}
    with path.open("wb") as file, Writer(file) as writer:
        writer.add_metadata("units", result.units)
        for event in result.events:
            log = Log_pb2.Log(level=Log_pb2.Log.INFO, message=event["text"], name=event["event"])
            log.timestamp.FromNanoseconds(round(1e9 * event["t"]))
            writer.write_message("/events", log, log.timestamp.ToNanoseconds(), log.timestamp.ToNanoseconds())
        for k, t in enumerate(time):
            transforms = FrameTransforms_pb2.FrameTransforms()
            for name, (positions, quaternions) in poses.items():
                transform = transforms.transforms.add(parent_frame_id="world", child_frame_id=name)
                transform.timestamp.FromNanoseconds(t)
                p, q = transform.translation, transform.rotation
                p.x, p.y, p.z = positions[k]
                q.w, q.x, q.y, q.z = quaternions[k]
            if poses:
                writer.write_message("/tf", transforms, t, t)
            for owner, fields in owners.items():
                values = {field: values[k] for field, values in fields.items()}
                writer.write_message(f"/{owner.replace('.', '/')}", messages[owner](**values), t, t)


def _poses(result: Result) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Returns positions and quaternions of all bodies and frames; none for a model without them."""
    model = result.model()
    x = np.stack([result[name] for name in model.state_names], axis=1)
    try:
        poses = {name: model.frame_pose(x, name) for name in model.frame_names}
    except GrappleError:  # of ANCF beams
        return {}
    return {name: (p, _quaternions(R)) for name, (p, R) in poses.items()}


def _quaternions(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns unit quaternions (w, x, y, z) of rotation matrices: the largest row of 4 q qᵀ."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(R, 0, -1)
    K = np.array(
        [
            [1 + a + e + i, h - f, c - g, d - b],
            [h - f, 1 + a - e - i, b + d, c + g],
            [c - g, b + d, 1 - a + e - i, f + h],
            [d - b, c + g, f + h, 1 - a - e + i],
        ]
    )
    largest = np.argmax(np.einsum("kkn->kn", K), axis=0)
    rows = K[largest, :, np.arange(len(R))]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _owners(result: Result) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Groups the variables by owner and field. `elbow.q` is the field q of "elbow", `der(elbow.qd)` the field
    der_qd; `base.r[1]`, … are the array r of "base", `boom.node[2].r[1]`, … that of "boom.node_2"."""
    owners: dict[str, dict[str, list[NDArray[np.float64]]]] = {}
    for name, values in result.items():
        owner, _, field = re.sub(r"^der\((.*?)([^.]*)\)$", r"\1der_\2", name).rpartition(".")
        owner = re.sub(r"\[(\d+)\]", r"_\1", owner) or result.name
        owners.setdefault(owner, {}).setdefault(re.sub(r"\[\d+\]$", "[]", field), []).append(values)
    return {
        owner: {
            field.removesuffix("[]"): np.stack(columns, axis=1) if field.endswith("[]") else columns[0]
            for field, columns in fields.items()
        }
        for owner, fields in owners.items()
    }


def _message(owner: str, fields: dict[str, NDArray[np.float64]]) -> Any:
    """Returns the class of messages with these fields."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    # In proto2 zeros are written too.
    name = owner.replace(".", "_")
    file = descriptor_pb2.FileDescriptorProto(name=f"grapple/{owner}.proto", package="grapple", syntax="proto2")
    kind = file.message_type.add(name=name)
    for number, (field, values) in enumerate(fields.items(), 1):
        of = kind.field.add(name=field, number=number, type=descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE)
        of.label = of.LABEL_OPTIONAL if values.ndim == 1 else of.LABEL_REPEATED
        of.options.packed = values.ndim > 1
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"grapple.{name}"))
