"""Settings that make no sense are refused."""

import pytest

from densvec.training.settings import Objective, Rates


@pytest.mark.parametrize(
    "settings",
    [
        lambda: Objective(margin=-1),
        lambda: Objective(margin=float("nan")),
        lambda: Objective(kl_weight=-1),
        lambda: Objective(pairing="both"),
        lambda: Objective(nearness=1.5),
        lambda: Rates(mean=float("inf")),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=r"margin|kl_weight|pairing|nearness|mean"):
        settings()
