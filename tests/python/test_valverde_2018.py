"""The example of Valverde and Tsiotras' paper, run as by a user, and its page."""

import os
from pathlib import Path

import pytest
from pages import figures, judge_figure, judge_page, tables
from programs import program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"

study = program("valverde/study")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("valverde")


@pytest.fixture(scope="module")
def results(directory):
    """The table of one run of the study, and the drifts by formulation."""
    return study.study(os.environ["GRAPPLE"], directory)


def test_mass_centre_and_momentum_are_constant_in_every_formulation(results, within):
    for drifts in results[1].values():
        for drift in drifts:
            within("Valverde's satellite: mass centre, momentum, angular momentum", drift, 2e-13, "round-off of some thousand steps")


def test_the_formulations_agree_on_the_energy(results):
    table, of_arms = tables(results[0])
    assert len({row[1:4] for row in table[1:]}) == 1 and len(table) == 4
    assert len({row[1:] for row in of_arms[1:]}) == 1 and len(of_arms) == 4


def test_the_page_shows_what_the_study_writes(results, directory):
    assert judge_page(PAGE, results[0]) == 2
    judge_figure(directory / "valverde_2018.svg")
    (shown,) = figures(PAGE)
    assert shown.is_file() and shown.name == "valverde_2018.svg"
