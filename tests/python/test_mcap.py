"""The run as an MCAP file: numbers, poses, events and units as in the result and the model."""

import re

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from native import grapple_fmu as grapple
from programs import EXAMPLES
from scipy.spatial.transform import Rotation


def read(path):
    """Returns the messages of each topic with their times (ns), and the metadata."""
    topics = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
            topics.setdefault(channel.topic, []).append((message.log_time, decoded))
        return topics, {record.name: record.metadata for record in reader.iter_metadata()}


def field(topics, name):
    """Returns the column of a variable."""
    name = re.sub(r"^der\((.*?)([^.]*)\)$", r"\1der_\2", name)
    owner, _, of = re.sub(r"\[\d+\]$", "", name).rpartition(".")
    component = re.search(r"\[(\d+)\]$", name)
    topic = "/" + re.sub(r"\[(\d+)\]", r"_\1", owner).replace(".", "/")
    column = [getattr(message, of) for _, message in topics[topic]]
    return np.array(column)[:, int(component[1]) - 1] if component else np.array(column)


@pytest.mark.parametrize("name", ["docking", "ssrms_flexible", "servicer_orbit"])
def test_file_has_the_numbers_of_the_run_and_the_poses_of_the_model(name, tmp_path, within):
    spec = grapple.load(EXAMPLES / f"{name}.toml")
    stop = {"docking": 40.0}.get(name, 1.0)
    result = spec.simulate(stop_time=stop, step=stop / 20)
    topics, metadata = read(result.to_mcap(tmp_path / "run.mcap"))
    assert metadata["units"] == result.units
    for variable, values in result.items():
        assert field(topics, variable).tobytes() == values.tobytes(), variable
    times = [round(1e9 * t) for t in result.time]
    assert all([t for t, _ in messages] == times for topic, messages in topics.items() if topic != "/events")
    texts = [(message.name, message.message) for _, message in topics.get("/events", [])]
    assert texts == [(event["event"], event["text"]) for event in result.events]
    assert name != "docking" or texts
    model = result.model()
    assert all(model.parameters[parameter] == result.parameters[parameter] for parameter in model.parameters)
    for k, (_, message) in enumerate(topics["/tf"]):
        assert [transform.child_frame_id for transform in message.transforms] == list(model.frame_names)
        x = [result[state][k] for state in model.state_names]
        for transform in message.transforms:
            position, matrix = model.frame_pose(x, transform.child_frame_id)
            p = transform.translation
            assert transform.parent_frame_id == "world" and transform.timestamp.ToNanoseconds() == times[k]
            within("positions in MCAP against the model", np.abs([p.x, p.y, p.z] - position).max(), 0.0, "copies")
            q = transform.rotation
            off = np.abs(Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix() - matrix).max()
            within("attitudes in MCAP against the model", off, 1e-14, "round-off of a quaternion")


def test_model_of_results_has_their_parameters_and_a_model_with_ancf_beams_no_poses(tmp_path):
    spec = grapple.load(EXAMPLES / "ssrms_type.toml")
    link = next(iter(spec["body"]))
    result = spec.simulate(stop_time=0.1, set={f"{link}.mass": 123.0})
    assert result.model().parameters[f"{link}.mass"] == 123.0
    result = grapple.load(EXAMPLES / "beam_in_grasp.toml").simulate(stop_time=0.1)
    topics, _ = read(result.to_mcap(tmp_path / "run.mcap"))
    assert "/tf" not in topics
    assert all(np.array_equal(field(topics, variable), values) for variable, values in result.items())


def test_missing_packages_are_named(tmp_path, monkeypatch):
    result = grapple.new("two_link").simulate(stop_time=0.1)
    monkeypatch.setitem(__import__("sys").modules, "mcap_protobuf.writer", None)
    with pytest.raises(ImportError, match=r"pip install 'grapple-fmu\[mcap\]'"):
        result.to_mcap(tmp_path / "run.mcap")
