"""The figures that Bražinskas, Havrylov & Titov (COLING 2018) print, by the names that `evaluate_all` gives ours.

Trained on 3 billion tokens (ukWaC and WaCkypedia), 100 dimensions, a window of 5 words on each side, a
vocabulary of 280,000 words. Only what we could check is here: of Table 1 the single correlations of BSG,
and the sums of all models.
"""

from __future__ import annotations

__all__ = ["FIGURES", "PAIRS"]

_BSG_SIMILARITY = {
    "MC-30": 0.71,
    "MEN-TR-3k": 0.73,
    "MTurk-287": 0.70,
    "MTurk-771": 0.67,
    "RG-65": 0.70,
    "RW-STANFORD": 0.43,
    "SIMLEX-999": 0.35,
    "VERB-143": 0.32,
    "WS-353-ALL": 0.72,
    "WS-353-REL": 0.68,
    "WS-353-SIM": 0.75,
    "YP-130": 0.50,
}

# Table 4: the rarer word entails the more frequent one, by the counts of the paper's corpus.
_FREQUENCY = {"direction bbds frequency": 0.7884, "direction bless frequency": 0.5526}

FIGURES: dict[str, dict[str, float]] = {
    "BSG": {
        **{f"rho {name}": value for name, value in _BSG_SIMILARITY.items()},
        "SUM": 7.26,
        "BIG5": 2.90,
        "GAP lst_all encoder": 0.461,
        "GAP lst_all add": 0.437,
        "GAP lst_all mult": 0.439,
        "F1 bbds kl": 0.762,
        "F1 bbds cosine": 0.759,
        "F1 bless kl": 0.200,
        "F1 bless cosine": 0.208,
        "direction bbds kl": 0.7823,
        "direction bless kl": 0.6734,
        **_FREQUENCY,
        "generality~frequency": -0.07,
    },
    "W2G(S)": {
        "SUM": 7.10,
        "GAP lst_all add": 0.431,
        "GAP lst_all mult": 0.432,
        "F1 bbds kl": 0.770,
        "F1 bbds cosine": 0.757,
        "F1 bless kl": 0.189,
        "F1 bless cosine": 0.204,
        "direction bbds kl": 0.7841,
        "direction bless kl": 0.5750,
        **_FREQUENCY,
        "generality~frequency": 0.59,
    },
    "W2G(D)": {
        "SUM": 6.95,
        "GAP lst_all add": 0.427,
        "GAP lst_all mult": 0.427,
        "F1 bbds kl": 0.765,
        "F1 bbds cosine": 0.749,
        "F1 bless kl": 0.187,
        "F1 bless cosine": 0.203,
        "direction bbds kl": 0.7805,
        "direction bless kl": 0.5458,
        **_FREQUENCY,
        "generality~frequency": 0.91,
    },
    "SG": {
        "SUM": 7.15,
        "BIG5": 2.84,
        "GAP lst_all add": 0.426,
        "GAP lst_all mult": 0.428,
        "F1 bbds cosine": 0.757,
        "F1 bless cosine": 0.203,
        **_FREQUENCY,
    },
}
"""By model, then by figure: correlations, F1 and accuracies as shares of 1."""

PAIRS: dict[tuple[str, str], tuple[float, float]] = {
    ("dog", "cat"): (15.47, 0.71),
    ("dog", "pet"): (18.52, 0.70),
    ("dog", "hound"): (21.20, 0.64),
    ("dog", "animal"): (27.69, 0.52),
}
"""Table 5, BSG: KL[first‖second] and the cosine of the means."""
