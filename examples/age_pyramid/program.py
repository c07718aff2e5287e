"""Age pyramid of two towns from birth dates that neither shows.

Each town knows who lives there, when they were born and whether they are women. Both learn how many
women and men there are in each five years of age, of both towns together: nobody's birth date, and
no number of one town alone.
"""

import datetime

import numpy as np

import sealane as sl

ON = datetime.date(2024, 7, 1)
GROUPS = 20
"""Of five years each; the last holds everybody from 95 on."""
EARLIEST = datetime.date(1900, 1, 1)


@sl.program
def pyramid(
    born: sl.Private[sl.date, "north", "northerners <= 2_000", sl.between(EARLIEST, ON)],
    woman: sl.Private[sl.boolean, "north", "northerners"],
    born_south: sl.Private[
        sl.date, "south", "southerners <= 2_000", sl.column("born"), sl.between(EARLIEST, ON)
    ],
    woman_south: sl.Private[sl.boolean, "south", "southerners", sl.column("woman")],
) -> tuple[sl.Revealed[sl.u12, "north", "south"], sl.Revealed[sl.u12, "north", "south"]]:
    """Women and men by group of age."""
    north, south = counted(born, woman), counted(born_south, woman_south)
    return north[0] + south[0], north[1] + south[1]


def counted(born: sl.date, woman: sl.boolean) -> tuple[sl.u12, sl.u12]:
    """Women and men of one town by group of age."""
    group = sl.clip(sl.age_in_years(born, ON), 0, 5 * GROUPS - 1) // 5
    member = group[:, None] == np.arange(GROUPS)
    women = (member & woman[:, None]).sum(axis=0, dtype=sl.u12)
    men = (member & ~woman[:, None]).sum(axis=0, dtype=sl.u12)
    return women, men
