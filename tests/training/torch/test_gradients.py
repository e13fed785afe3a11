"""Gradients in closed form, against autograd of the loss."""

import numpy as np
import pytest
import torch

from densvec.reading import Reading
from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import TorchBackend
from densvec.training.torch.minibatch import Minibatches
from densvec.training.torch.step import Rows, Tables
from densvec.training.torch.windows import beyond, windows
from tests.training.cases import NARROWING, SENTENCES, make_chunk, make_wv


def descended(model, tables, windows, beyond):
    """The number whose derivatives training descends."""
    rows = Rows.of(tables, windows)
    posteriors = model.posteriors(tables, windows, rows)
    loss = model.compare(windows, model.contrast(windows, rows, posteriors).kl)[0].loss
    if posteriors.gain is None:
        return loss
    score = model.score(model.scores(tables, rows, beyond, posteriors.mean), posteriors.gain)
    # A narrowing posterior's variance goes with its prior's, so KL[q‖w] moves the prior's by the shift alone.
    log_prior = rows.prior_log_variances
    slope = rows.fisher * ((posteriors.log_variance - log_prior).exp() - 1).detach()
    along = torch.where(windows.trained, slope * log_prior, 0).sum()
    return loss + score + model.objective.kl_weight * along


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("pairing", ["shared", "paired"])
@pytest.mark.parametrize(
    ("residual", "reading", "objective"),
    [
        (False, None, {"nearness": 0.0}),  # the paper's
        (False, Reading(3, saturation=0.5), {"margin": 1.0}),
        (True, None, {"kl_weight": 0.3}),
        (True, NARROWING, {"kl_weight": 2.0, "margin": 8.0}),
    ],
)
def test_closed_form_is_what_autograd_finds(covariance, pairing, residual, reading, objective):
    wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=residual, reading=reading)
    chunk = make_chunk(SENTENCES, window=3, negative=3, pairing=pairing)
    backend = TorchBackend(wv, Objective(pairing=pairing, **objective), Rates(), device="cpu")
    result, found = backend.gradients(chunk)

    (batch,) = backend._to_device(Minibatches(10).of([chunk]))
    around, outside = windows(batch, paired=pairing == "paired"), beyond(batch)
    tables = Tables(*(table.clone().requires_grad_() for table in backend.tables))
    losses = backend.model.losses(tables, around)
    assert result.loss == pytest.approx(losses.loss.item(), rel=1e-12)
    descended(backend.model, tables, around, outside).backward()
    for name, table in tables._asdict().items():
        expected = torch.zeros_like(table) if table.grad is None else table.grad
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-9, err_msg=name)
