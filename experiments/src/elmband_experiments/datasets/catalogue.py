"""The public data sets: their files, columns and sources, and what is known of their licences."""

from dataclasses import dataclass
from functools import partial

from elmband_experiments.datasets.readers import (
    Reader,
    arff_table,
    csv_table,
    npz_table,
    plain_numbers,
)
from elmband_experiments.datasets.sources import Direct, OpenML

_RDATASETS = "https://vincentarelbundock.github.io/Rdatasets/csv"


@dataclass(frozen=True)
class Entry:
    """A data set.

    Attributes
    ----------
    name : str
        What it is called here, also in the cache.
    title : str
        What it is, in a few words.
    file : str
        Where it is in a folder of the user's.
    read : callable
        From that file to columns.
    source : Direct or OpenML
        Where it is published.
    read_source : callable
        From the published file to columns.
    columns : tuple of str
        The columns that are used, under the names they have here.
    n_rows : int
        Number of rows.
    text : str
        What the rows are, and who measured them.
    licence : str
        What is known of it.
    """

    name: str
    title: str
    file: str
    read: Reader
    source: Direct | OpenML
    read_source: Reader
    columns: tuple[str, ...]
    n_rows: int
    text: str
    licence: str

    @property
    def DESCR(self) -> str:  # noqa: N802 (scikit-learn's word)
        """All that is known, as text."""
        lines = (self.title, self.text, f"Source: {self.source.page}", f"Licence: {self.licence}")
        return "\n\n".join(lines)


_CONCRETE = (
    "cement",
    "blast_furnace_slag",
    "fly_ash",
    "water",
    "superplasticizer",
    "coarse_aggregate",
    "fine_aggregate",
    "age",
    "compressive_strength",
)

CONCRETE = Entry(
    name="concrete",
    title="Concrete compressive strength",
    file="concrete/concrete.csv.gz",
    read=csv_table,
    source=OpenML(44959),
    read_source=partial(
        arff_table,
        codes={},
        renamed={
            "strength": "compressive_strength",
            "concrete_compressive_strength": "compressive_strength",
        },
    ),
    columns=_CONCRETE,
    n_rows=1030,
    text=(
        "Mixtures of concrete in kg per cubic metre, their age in days, and the strength in MPa. "
        "25 rows are duplicates. I-C. Yeh, Modeling of strength of high-performance concrete "
        "using artificial neural networks, Cement and Concrete Research 28, 1998. Copies differ "
        "in how many digits of the strength they keep."
    ),
    licence="UCI Machine Learning Repository, CC BY 4.0 by its own page.",
)

_PLASMA = (
    "age",
    "sex",
    "smokstat",
    "quetelet",
    "vituse",
    "calories",
    "fat",
    "fiber",
    "alcohol",
    "cholesterol",
    "betadiet",
    "retdiet",
    "betaplasma",
    "retplasma",
)

PLASMA = Entry(
    name="plasma",
    title="Beta-carotene in blood plasma",
    file="plasma/plasma.csv",
    read=csv_table,
    source=OpenML(511),
    read_source=partial(
        arff_table,
        codes={
            "sex": ("male", "female"),
            "smokstat": ("never", "former", "current_smoker"),
            "vituse": ("yes_fairly_often", "yes_not_often", "no"),
        },
        renamed={},
    ),
    columns=_PLASMA,
    n_rows=315,
    text=(
        "Patients, what they eat, and the beta-carotene in their plasma in ng/ml. The categories "
        "are numbers: sex (1 male, 2 female), smokstat (1 never, 2 former, 3 current smoker) and "
        "vituse (vitamins: 1 often, 2 not often, 3 no). One target is 0, and one patient drinks "
        "203 glasses a week. D. W. Nierenberg and others, Determinants of plasma levels of "
        "beta-carotene and retinol, American Journal of Epidemiology 130, 1989."
    ),
    licence="None is stated; from the StatLib archive.",
)

PLANT_INPUTS = (
    "gas_flow",
    "turbine_valves_opening",
    "superheater_spray_flow",
    "gas_dampers",
    "air_flow",
)
_PLANT = (*PLANT_INPUTS, "steam_pressure", "main_steam_temperature")
_PLANT_FILE = (
    *_PLANT,
    "reheat_steam_temperature",
    "yr_steam_pressure",
    "yr_main_steam_temperature",
    "yr_reheat_steam_temperature",
)

POWERPLANT = Entry(
    name="powerplant",
    title="A power plant of 120 MW",
    file="powerplant/powerplant.csv",
    read=csv_table,
    source=Direct("https://ftp.esat.kuleuven.be/pub/SISTA/data/process_industry/powerplant.dat.gz"),
    read_source=partial(plain_numbers, names=_PLANT_FILE),
    columns=_PLANT,
    n_rows=200,
    text=(
        "What goes into the boiler and what comes out, at 200 points of time in order: rows are a "
        "time series, and random splits leak. R. Guidorzi and P. Rossi, Identification of a power "
        "plant from normal operating records, Automatic Control Theory and Applications 2, 1974."
    ),
    licence="None is stated; DaISy, the database for the identification of systems, KU Leuven.",
)

MOTORCYCLE = Entry(
    name="motorcycle",
    title="A simulated motorcycle accident",
    file="heteroscedastic/mcycle.csv.gz",
    read=csv_table,
    source=Direct(f"{_RDATASETS}/MASS/mcycle.csv"),
    read_source=csv_table,
    columns=("times", "accel"),
    n_rows=133,
    text=(
        "Milliseconds after the impact, and the acceleration of the head in g. B. W. Silverman, "
        "Some aspects of the spline smoothing approach to non-parametric regression curve "
        "fitting, Journal of the Royal Statistical Society B 47, 1985."
    ),
    licence="Part of the R package MASS, GPL-2 or GPL-3.",
)

ENGEL = Entry(
    name="engel",
    title="Income and expenditure on food",
    file="heteroscedastic/engel.csv.gz",
    read=csv_table,
    source=Direct(f"{_RDATASETS}/quantreg/engel.csv"),
    read_source=csv_table,
    columns=("income", "foodexp"),
    n_rows=235,
    text=(
        "Households of Belgian workers in 1857, both columns in Belgian francs a year. "
        "R. Koenker and G. Bassett, Robust tests for heteroscedasticity based on regression "
        "quantiles, Econometrica 50, 1982."
    ),
    licence="Part of the R package quantreg, GPL-2 or later.",
)

SKIN = Entry(
    name="skin",
    title="Colours of skin and of other things",
    file="skin_uci/skin_nonskin.npz",
    read=partial(npz_table, names={"BGR": ("blue", "green", "red"), "label": ("label",)}),
    source=Direct(
        "https://archive.ics.uci.edu/ml/machine-learning-databases/00229/Skin_NonSkin.txt"
    ),
    read_source=partial(plain_numbers, names=("blue", "green", "red", "label")),
    columns=("blue", "green", "red", "label"),
    n_rows=245_057,
    text=(
        "Colours of pixels, 0 to 255, of faces and of other things; only 51,444 rows are "
        "distinct, so that random splits leak. R. Bhatt and A. Dhall, Skin Segmentation, UCI "
        "Machine Learning Repository, 2012."
    ),
    licence="UCI Machine Learning Repository, CC BY 4.0 by its own page.",
)

# The checksum is that of the file whose Git object vega-datasets lists as
# 9c4e0b480a1a60954a7e5c6bcc43e1c91a73caaa, 13,493,022 bytes.
FLIGHTS = Direct(
    "https://cdn.jsdelivr.net/npm/vega-datasets@3.2.0/data/flights-3m.parquet",
    "sha256:dbeb920c90f59b6ccaff823dcc3d08f25a97fa1ce128d93f40be4e931f5900b0",
)
FLIGHTS_FILE = "flights/flights-3m.parquet"

ENTRIES = {entry.name: entry for entry in (CONCRETE, PLASMA, POWERPLANT, MOTORCYCLE, ENGEL, SKIN)}
