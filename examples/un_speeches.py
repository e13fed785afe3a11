"""What climate, terrorism, aid and sovereignty mean at the United Nations, by year and by region.

    python examples/un_speeches.py TABLE.jsonl [FOLDER]

TABLE.jsonl has a line for each speech of the general debate, `{"country": "ARG", "year": 1946, "speech": "..."}`;
pictures are written to FOLDER. It prints the figures of docs/howto/regress.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import densvec
from densvec import plot

WORDS = ["climate", "terrorism", "aid", "sovereignty"]
DECADE = "I(year / 10)"

REGIONS = {
    "West": (
        "USA CAN GBR IRL FRA DEU DDR BEL NLD LUX ITA ESP PRT AUT CHE SWE NOR DNK FIN ISL GRC MLT AND LIE "
        "MCO SMR AUS NZL ISR TUR"
    ),
    "East": (
        "RUS UKR BLR POL CZE SVK CSK HUN ROU BGR YUG SRB HRV SVN BIH MKD MNE ALB EST LVA LTU MDA GEO ARM AZE"
    ),
    "Latin America": (
        "ARG BOL BRA CHL COL CRI CUB DOM ECU SLV GTM HTI HND MEX NIC PAN PRY PER URY VEN JAM TTO BRB GUY "
        "SUR BHS BLZ GRD LCA VCT ATG DMA KNA"
    ),
    "Africa": (
        "DZA AGO BEN BWA BFA BDI CMR CPV CAF TCD COM COG COD CIV DJI EGY GNQ ERI ETH GAB GMB GHA GIN GNB "
        "KEN LSO LBR LBY MDG MWI MLI MRT MUS MAR MOZ NAM NER NGA RWA STP SEN SYC SLE SOM ZAF SSD SDN SWZ "
        "TGO TUN UGA TZA ZMB ZWE"
    ),
}
"""The regional groups; the other countries are in that of Asia and the Pacific."""


def main(path: str, folder: str = ".") -> None:
    """Print figures and write pictures."""
    region = {country: name for name, countries in REGIONS.items() for country in countries.split()}
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    table = {name: [row[name] for row in rows] for name in ("country", "year", "speech")}
    table["region"] = [region.get(country, "Asia and Pacific") for country in table["country"]]
    table["half"] = [f"{'ab'[i % 2]}" for i in range(len(rows))]

    wv = densvec.load("english")
    options = {"text": "speech", "cluster": "country"}
    found = densvec.regress(wv, WORDS, table, formula="I(year / 10) + region", **options)
    print(found, "\n")
    for word in WORDS:
        for name in (DECADE, "region[T.West]"):
            more, less = ([other for other, _ in side] for side in found[word].telling(name, 6))
            print(f"{word}, {name}: {' '.join(more)} | {' '.join(less)}")
    for side in found["aid"].examples("region[T.West]", 2):
        print(*(example.line(50) for example in side), sep="\n")

    paths = [found[word].path("year", 8) for word in WORDS]
    for each in paths:
        print(
            each.word,
            f"trend p = {each.trend:.1g}, change at {each.change_value:.0f} p = {each.change:.1g}",
            each.counts,
            each.positions.round(2),
        )

    control = densvec.regress(wv, WORDS, table, formula="half", **options)
    print("\ncontrol: every other speech against the rest", control, sep="\n")

    Path(folder).mkdir(exist_ok=True)
    plot.plot_norms(found).figure.savefig(Path(folder, "regress_norms.png"), dpi=80)
    plot.plot_telling(found["aid"], DECADE).figure.savefig(Path(folder, "regress_aid.png"), dpi=80)
    plot.plot_path(paths).figure.savefig(Path(folder, "regress_years.png"), dpi=80)


if __name__ == "__main__":
    main(*sys.argv[1:])
