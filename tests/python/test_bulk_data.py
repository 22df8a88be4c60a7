"""Grid points, coordinate systems and matrices in the bulk data of Nastran."""

import numpy as np
import pytest
from native import grapple_fmu as grapple

from grapple_fmu._bulk_data import bulk_data

BULK = """SOL 103
CEND
$ GRID,1 in a comment
BEGIN BULK
GRDSET                 7
CORD2C,7,0,1.,0.,0.,1.,0.,1.
,2.,0.,0.
CORD1R         8       1       2       3
GRID           1              2.     90.     3.0       0
GRID*                  2               01.0000000000D+00             2.5
*                   -1.5               7
GRID,3,0,1.5-1,.25,1.+1
GRID           4       8      1.      2.      3.       8
INCLUDE 'more.inc'
ENDDATA
GRID,99,0,1.,1.,1.
"""


def test_bulk_data(tmp_path):
    """Fields of 8 and 16 columns and separated by commas, defaults, included files, systems by points and by grids."""
    (tmp_path / "model.bdf").write_text(BULK)
    (tmp_path / "more.inc").write_text("GRID,5,7,0.,0.,1.,7\n")
    grids, _ = bulk_data(tmp_path / "model.bdf")
    assert sorted(grids) == [1, 2, 3, 4, 5]
    assert grids[1].position == pytest.approx([1.0, 2.0, 3.0]) and grids[1].axes is None
    assert grids[2].position == pytest.approx([1.0, 2.5, -1.5])
    assert grids[2].axes == pytest.approx(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    assert grids[3].position == pytest.approx([0.15, 0.25, 10.0])
    z = grids[2].position - grids[1].position
    z /= np.linalg.norm(z)
    y = np.cross(z, grids[3].position - grids[1].position)
    y /= np.linalg.norm(y)
    axes = np.column_stack([np.cross(y, z), y, z])
    assert grids[4].axes == pytest.approx(axes)
    assert grids[4].position == pytest.approx(grids[1].position + axes @ [1.0, 2.0, 3.0])
    assert grids[5].on_polar_axis and not grids[1].on_polar_axis


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.5-1", "1.5x", "model.bdf:12: GRID: field 4 is '1.5x'; it must be a number"),
        ("GRID,3,0", "GRID,3a,0", "model.bdf:12: GRID: field 2 is '3a'; it must be a whole number"),
        ("GRID,3,0", "GRID,1,0", "model.bdf:12: GRID: grid point 1 is also in line 9, with other numbers"),
        ("more.inc", "none.inc", "none.inc: no such file"),
        ("more.inc", "model.bdf", "INCLUDE statements are nested more than 10 deep"),
        ("GRID,3,0,1.5-1,.25,1.+1", "=,*1,=,*(1.),==", "model.bdf:12: replicated entries"),
        ("CORD2C,7,0,1.,0.,0.", "CORD2C,7,8,1.,0.,0.", "the coordinate system 8 refers to itself|the coordinate system 7 refers"),
        ("CORD2C,7,", "CORD2C,6,", "the coordinate system 7 is missing"),
        ("1       2       3\n", "1       2      77\n", "the coordinate system 8 needs GRID 77"),
        (",2.,0.,0.", ",1.,0.,0.", "three points of the coordinate system 7 are on a line"),
    ],
)
def test_bulk_data_that_cannot_be_are_refused(tmp_path, old, new, message):
    assert old in BULK
    (tmp_path / "model.bdf").write_text(BULK.replace(old, new))
    (tmp_path / "more.inc").write_text("GRID,5,7,0.,0.,1.,7\n")
    with pytest.raises(grapple.GrappleError, match=message):
        bulk_data(tmp_path / "model.bdf")


def test_punched_matrices_that_cannot_serve_are_refused(tmp_path):
    path = tmp_path / "panel.pch"
    grid = "GRID,1,0,0.,0.,0.\n"
    for text, message in (
        (grid, "no matrices KAAX and MAAX, but none; punch them by EXTSEOUT"),
        (grid + "DMIG,KAAX,1,1,,1,1,2.0\n", "panel.pch:2: DMIG: the column of the matrix KAAX is before its heading"),
        (grid + "DMIG,KAAX,0,6,4,0\nDMIG,MAAX,0,6,2,0\n", "KAAX and MAAX are complex"),
        (grid + "DMIG,KAAX,0,6,2,0\nDMIG,KAAX,1,1,,1,1,two\n", "panel.pch:3: DMIG: field 8 is 'two'"),
    ):
        path.write_text(text)
        with pytest.raises(grapple.GrappleError, match=message):
            grapple.import_modes(path, clamped=1)
