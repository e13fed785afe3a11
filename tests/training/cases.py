"""What every training backend must do: the cases are run for each of them (class attribute `backend`)."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.distributions import Independent, Normal, kl_divergence

from densvec._corpus import Chunk
from densvec.encoder import LOG_VARIANCE_BOUNDS, Encoder
from densvec.reading import Reading
from densvec.training.settings import COMPANY, SCORED, SHRINKAGE, Objective, Rates

WEIGHTS = ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias")


def make_wv(
    words,
    dimensions,
    *,
    embedding=None,
    hidden=None,
    covariance="spherical",
    seed=0,
    dtype=np.float64,
    scale=0.5,
    residual=False,
    reading=None,
):
    """Random tables in the shape of a KeyedDensities: all that a backend reads of one."""
    rng = np.random.default_rng(seed)
    embedding, hidden = embedding or dimensions, hidden or dimensions
    width = 1 if covariance == "spherical" else dimensions

    def draw(*shape):
        return (rng.normal(size=shape) * scale).astype(dtype)

    encoder = Encoder(
        embeddings=draw(words, embedding),
        context_layer=draw(embedding, hidden),
        centre_layer=draw(embedding, hidden),
        mean_head=draw(hidden, dimensions),
        mean_bias=draw(dimensions),
        variance_head=draw(hidden, width),
        variance_bias=draw(width),
        residual=residual,
        reading=reading or Reading(),
    )
    return SimpleNamespace(
        vectors=draw(words, dimensions), log_variances=draw(words, width), encoder=encoder, expandos={}
    )


def make_chunk(sentences, *, window=2, negative=2, pairing="shared", words=None, seed=0, radii=None):
    """A chunk of the given sentences of word ids, with random negatives."""
    rng = np.random.default_rng(seed)
    tokens = np.array([word for sentence in sentences for word in sentence], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, sentences)]).astype(np.int32)
    words = words or int(tokens.max(initial=0)) + 1
    if radii is None:
        radii = np.full(len(tokens), window, dtype=np.int32)
    pairs = sum(
        min(b - 1, i + radii[i]) - max(a, i - radii[i]) for a, b in pairwise(bounds) for i in range(a, b)
    )
    rows = len(tokens) if pairing == "shared" else int(pairs)
    negatives = rng.integers(0, words, size=(rows, negative)).astype(np.int32)
    return Chunk(tokens, bounds, radii, negatives, pairing=pairing)


def draw_chunk(data, words):
    """Any chunk of up to four short sentences."""
    sentences = data.draw(st.lists(st.lists(st.integers(0, words - 1), max_size=7), max_size=4))
    count = sum(map(len, sentences))
    radii = data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    return make_chunk(
        sentences,
        negative=data.draw(st.integers(1, 4)),
        pairing=data.draw(st.sampled_from(["shared", "paired"])),
        words=words,
        seed=data.draw(st.integers(0, 99)),
        radii=np.array(radii, dtype=np.int32),
    )


def arrays_of(wv):
    """All tables by the names of Backend.gradients."""
    return {"means": wv.vectors, "log_variances": wv.log_variances, **wv.encoder.arrays()}


def windows_of(chunk):
    """Each centre that has context, with its context words."""
    for a, b in pairwise(chunk.sentences):
        for i in range(a, b):
            radius = chunk.radii[i]
            contexts = [
                chunk.tokens[j] for j in range(max(a, i - radius), min(b - 1, i + radius) + 1) if j != i
            ]
            if contexts:
                yield chunk.tokens[i], contexts


def narrowing_score(means, word, mean, gain, beyond):
    """The score of a posterior's precision, 1 + gain times its prior's, on words that it has not read."""
    if not beyond:
        return 0.0
    p = sum((means[word] - means[c]) ** 2 for c in beyond)
    q = sum((mean - means[c]) ** 2 for c in beyond)
    if not p.sum():
        return 0.0
    if len(gain) == 1:
        p, q = p.mean(), q.mean()
    ratio = 1 / (1 + gain)
    return ((p * ratio.log() + q / ratio) / p.mean()).sum()


def goes_along(gaussian, prior_mean, log_prior, mean, log_variance):
    """What is 0, but gives KL[q‖w] the derivative that it has when q's variance goes with w's."""
    prior = gaussian(prior_mean, log_prior)
    along = gaussian(mean, log_prior + (log_variance - log_prior).detach())
    return kl_divergence(along, prior) - kl_divergence(gaussian(mean, log_variance), prior)


def eq7(chunk, wv, objective, *, hinge_moves_log_variances=True):  # noqa: C901
    """Loss, hinge, kl, centres and gradients of Eq. 7, pair by pair, as the paper writes it."""
    t = {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=True)
        for name, array in arrays_of(wv).items()
    }
    dimensions = t["means"].shape[1]
    layer = torch.cat([t["context_layer"], t["centre_layer"]])  # M = [M_c; M_w]

    def gaussian(mean, log_variance):
        return Independent(Normal(mean, (0.5 * log_variance).exp().expand(dimensions)), 1)

    def prior(word):
        return gaussian(t["means"][word], t["log_variances"][word])

    def contrasted(word):
        log_variance = t["log_variances"][word]
        return gaussian(
            t["means"][word], log_variance if hinge_moves_log_variances else log_variance.detach()
        )

    reading = wv.encoder.reading
    descended = torch.zeros((), dtype=torch.float64)  # what is learnt by, but is no part of the loss
    hinge = torch.zeros((), dtype=torch.float64)
    kl = torch.zeros((), dtype=torch.float64)
    centres = pair = 0
    for a, b in pairwise(chunk.sentences):
        for i in range(a, b):
            radius = chunk.radii[i]
            contexts = [j for j in range(max(a, i - radius), min(b - 1, i + radius) + 1) if j != i]
            if not contexts:
                continue
            word = chunk.tokens[i]
            weights = reading.weights([abs(i - j) for j in contexts])
            hidden = float(reading.scale(weights.sum())) * sum(
                weight
                * torch.relu(torch.cat([t["embeddings"][chunk.tokens[j]], t["embeddings"][word]]) @ layer)
                for j, weight in zip(contexts, weights, strict=True)
            )
            mean = hidden @ t["mean_head"] + t["mean_bias"]
            log_variance = hidden @ t["variance_head"] + t["variance_bias"]
            if wv.encoder.residual:
                mean = mean + t["means"][word]
                log_variance = log_variance + t["log_variances"][word].detach()
            if reading.narrowing:
                told = hidden.detach() / float(reading.scale(weights.sum())) @ t["variance_head"].abs()
                gain = told / (1 + 2 * told)
                log_variance = t["log_variances"][word].detach() - gain.detach().log1p()
                beyond = [
                    chunk.tokens[j]
                    for j in (i - radius - 1, i + radius + 1)
                    if a <= j < b and i % SCORED == 0
                ]
                descended = descended + narrowing_score(
                    t["means"].detach(), word, mean.detach(), gain, beyond
                )
            q = gaussian(mean, log_variance.clamp(*LOG_VARIANCE_BOUNDS))
            for j in contexts:
                negatives = chunk.negatives[i] if chunk.pairing == "shared" else chunk.negatives[pair]
                positive = kl_divergence(q, contrasted(chunk.tokens[j]))
                weight = 1 + objective.nearness * (1 - 2 * abs(i - j) / (radius + 1))
                for n in negatives:
                    violation = torch.relu(positive - kl_divergence(q, contrasted(n)) + objective.margin)
                    hinge = hinge + weight * violation / len(negatives)
                pair += 1
            kl = kl + kl_divergence(q, prior(word))
            if reading.narrowing:
                log_prior = t["log_variances"][word]
                both = goes_along(
                    gaussian, t["means"][word].detach(), log_prior, mean.detach(), log_variance.detach()
                )
                descended = descended + objective.kl_weight * both
            centres += 1
    loss = hinge + objective.kl_weight * kl
    if centres:
        (loss + descended).backward()
    gradients = {name: np.zeros(x.shape) if x.grad is None else x.grad.numpy() for name, x in t.items()}
    return loss.item(), hinge.item(), kl.item(), centres, gradients


# windows at either end of a sentence, one-word and empty sentences, a word repeated and as its own context
SENTENCES = [[0, 1, 2, 3, 4, 5, 6], [7], [], [1, 1], [2, 3, 2, 2, 8, 3, 2], [9, 0, 9]]


NARROWING = Reading(3, nearness=1.0, saturation=5.0, thinned=True, narrowing=True)


class BackendCases:
    """Subclasses give `backend(wv, objective, rates, state=None)`."""

    def backend(self, wv, objective=None, rates=None, state=None):
        raise NotImplementedError

    def check_gradients(self, chunk, wv, objective, tolerance=1e-9):
        result, gradients = self.backend(wv, objective, Rates()).gradients(chunk)
        loss, hinge, kl, centres, expected = eq7(chunk, wv, objective)
        assert result.centres == centres
        np.testing.assert_allclose(
            [result.loss, result.hinge, result.kl], [loss, hinge, kl], rtol=tolerance, atol=tolerance
        )
        assert gradients.keys() == expected.keys()
        for name, gradient in gradients.items():
            scale = max(1.0, np.abs(expected[name]).max(initial=0))
            assert gradient.dtype == wv.vectors.dtype, name
            np.testing.assert_allclose(
                gradient, expected[name], rtol=tolerance, atol=tolerance * scale, err_msg=name
            )

    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    @pytest.mark.parametrize("pairing", ["shared", "paired"])
    @pytest.mark.parametrize(
        ("negative", "residual", "nearness", "reading"),
        [
            (1, False, 0.0, None),
            (3, False, 1.0, None),
            (3, True, 0.4, None),
            (3, True, 1.0, Reading(3, nearness=1.0, saturation=5.0, narrowing=True)),
            (2, True, 0.4, Reading(3, nearness=0.4, narrowing=True)),
            (2, False, 0.0, Reading(3, saturation=0.5)),
        ],
    )
    def test_loss_and_gradients_are_those_of_eq_7(
        self, covariance, pairing, negative, residual, nearness, reading
    ):
        wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=residual, reading=reading)
        chunk = make_chunk(SENTENCES, window=3, negative=negative, pairing=pairing)
        self.check_gradients(chunk, wv, Objective(margin=5.0, pairing=pairing, nearness=nearness))

    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    @pytest.mark.parametrize(("residual", "reading"), [(False, None), (True, None), (True, NARROWING)])
    def test_log_variances_follow_their_posteriors_and_the_hinge_at_two_rates(
        self, covariance, residual, reading
    ):
        wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=residual, reading=reading)
        chunk, objective, alpha = make_chunk(SENTENCES, window=3, negative=3), Objective(), 1e-8
        whole = eq7(chunk, wv, objective)[-1]["log_variances"]
        own = eq7(chunk, wv, objective, hinge_moves_log_variances=False)[-1]["log_variances"]
        before = wv.log_variances.copy()
        rates = Rates(mean=0.0, log_variance=2.0, contrast=0.7, coverage=0.0, embedding=0.0, encoder=0.0)
        self.backend(wv, objective, rates).step(chunk, alpha)
        fisher = 2.0 if covariance == "spherical" else 0.5
        expected = (2.0 * own + 0.7 * (whole - own)) / fisher
        np.testing.assert_allclose((before - wv.log_variances) / alpha, expected, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    def test_coverage_widens_words_that_are_stretched_more_than_typical_or_among_frequent_words(
        self, covariance
    ):
        wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=True)
        for name, values in {"count": np.arange(90, 0, -9), "keep": np.linspace(0.3, 1, 10)}.items():
            wv.expandos[name] = values
        share = wv.expandos["count"] * wv.expandos["keep"] / (wv.expandos["count"] @ wv.expandos["keep"])
        company = COMPANY * (np.log(share) - share @ np.log(share))
        chunk, alpha, typical = make_chunk(SENTENCES, window=3), 1e-8, (1.7, 0.3)
        before, met = wv.log_variances.copy(), []
        expected = np.zeros_like(before)
        for centre, contexts in windows_of(chunk):
            priors = wv.vectors[[centre]], before[[centre]]
            (mean,), (log_variance,) = wv.encoder.posteriors([centre], contexts, [0, len(contexts)], priors)
            for word in contexts:
                square = (mean - wv.vectors[word]) ** 2
                moment = np.exp(log_variance) + (square.mean() if covariance == "spherical" else square)
                stretch = moment / np.exp(before[word])
                expected[word] += stretch - typical[0] * (1 - company[centre])
                expected[word] += SHRINKAGE * (typical[1] - before[word])
                met.append((stretch.mean(), before[word].mean()))
        state = self.backend(wv).state()
        state["typical_word"][:] = typical
        rates = Rates(mean=0.0, log_variance=0.0, contrast=0.0, coverage=2.0, embedding=0.0, encoder=0.0)
        backend = self.backend(wv, rates=rates, state=state)
        backend.step(chunk, alpha)
        np.testing.assert_allclose((wv.log_variances - before) / alpha, 2.0 * expected, rtol=1e-4, atol=1e-4)
        moved = (backend.state()["typical_word"] - typical) / (np.mean(met, axis=0) - typical)
        assert moved[0] == pytest.approx(moved[1], rel=1e-4)
        assert 0 < moved[0] < 0.1  # a running mean

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(data=st.data())
    def test_loss_and_gradients_on_any_chunk(self, data):
        words = data.draw(st.integers(2, 12))
        chunk = draw_chunk(data, words)
        residual = data.draw(st.booleans())
        reading = Reading(
            window=4,
            nearness=data.draw(st.sampled_from([0.0, 0.5, 1.0])),
            saturation=data.draw(st.sampled_from([0.5, 5.0, np.inf])),
            narrowing=residual and data.draw(st.booleans()),
        )
        wv = make_wv(
            words,
            data.draw(st.integers(1, 5)),
            embedding=data.draw(st.integers(1, 5)),
            hidden=data.draw(st.integers(1, 5)),
            covariance=data.draw(st.sampled_from(["spherical", "diagonal"])),
            residual=residual,
            reading=reading,
            seed=data.draw(st.integers(0, 99)),
        )
        margin = data.draw(st.sampled_from([0.0, 1.0, 20.0]))
        kl_weight = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
        nearness = data.draw(st.sampled_from([0.0, 0.4, 1.0]))
        self.check_gradients(chunk, wv, Objective(margin, kl_weight, chunk.pairing, nearness))

    @pytest.mark.parametrize("bias", [-50.0, 50.0])
    def test_posterior_log_variance_is_clipped_and_has_no_gradient_outside(self, bias):
        wv = make_wv(10, 4)
        wv.encoder.variance_bias[:] = bias
        chunk = make_chunk(SENTENCES)
        self.check_gradients(chunk, wv, Objective(), tolerance=1e-8)
        _, gradients = self.backend(wv, Objective(), Rates()).gradients(chunk)
        assert not gradients["variance_bias"].any()
        assert not gradients["variance_head"].any()

    def test_float32_tables_give_the_same_gradients_to_single_precision(self):
        wv = make_wv(10, 4, dtype=np.float32)
        self.check_gradients(make_chunk(SENTENCES), wv, Objective(), tolerance=2e-5)

    def test_gradients_train_nothing(self):
        wv = make_wv(10, 4)
        before = {name: array.copy() for name, array in arrays_of(wv).items()}
        self.backend(wv).gradients(make_chunk(SENTENCES))
        for name, array in arrays_of(wv).items():
            np.testing.assert_array_equal(array, before[name])

    @pytest.mark.parametrize("residual", [False, True])
    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    @pytest.mark.parametrize("pairing", ["shared", "paired"])
    def test_steps_lower_the_loss(self, covariance, pairing, residual):
        wv = make_wv(10, 4, covariance=covariance, dtype=np.float32, residual=residual)
        chunk = make_chunk(SENTENCES, pairing=pairing)
        backend = self.backend(wv, Objective(pairing=pairing))
        first = backend.step(chunk, 0.025)
        for _ in range(100):
            last = backend.step(chunk, 0.025)
        backend.synchronise()
        assert last.centres == first.centres == 19
        assert last.loss < 0.7 * first.loss
        assert first.loss == pytest.approx(first.hinge + first.kl, rel=1e-5)

    def test_step_at_rate_zero_changes_no_table(self):
        wv = make_wv(10, 4, dtype=np.float32)
        before = {name: array.copy() for name, array in arrays_of(wv).items()}
        backend = self.backend(wv)
        backend.step(make_chunk(SENTENCES), 0.0)
        backend.synchronise()
        for name, array in arrays_of(wv).items():
            np.testing.assert_array_equal(array, before[name])

    def test_step_touches_only_the_rows_of_its_words(self):
        wv = make_wv(40, 4, dtype=np.float32)
        chunk = make_chunk(SENTENCES, words=20)
        before = {name: array.copy() for name, array in arrays_of(wv).items()}
        backend = self.backend(wv)
        backend.step(chunk, 0.025)
        backend.synchronise()
        used = set(chunk.tokens.tolist()) - {7} | set(chunk.negatives[:7].ravel().tolist())
        changed = set(np.flatnonzero((wv.vectors != before["means"]).any(1)).tolist())
        assert changed <= set(range(20))
        assert used & changed
        assert (wv.encoder.embeddings[20:] == before["embeddings"][20:]).all()
        assert (wv.log_variances[20:] == before["log_variances"][20:]).all()

    def test_same_chunks_give_the_same_bits(self):
        tables = []
        for _ in range(2):
            wv = make_wv(10, 8, dtype=np.float32)
            backend = self.backend(wv)
            for seed in range(5):
                backend.step(make_chunk(SENTENCES, seed=seed), 0.025)
            backend.synchronise()
            tables.append(arrays_of(wv))
        for name in tables[0]:
            np.testing.assert_array_equal(tables[0][name], tables[1][name])

    def test_state_resumes_bit_for_bit(self):
        chunks = [make_chunk(SENTENCES, seed=seed) for seed in range(6)]
        whole, parts = make_wv(10, 8, dtype=np.float32), make_wv(10, 8, dtype=np.float32)
        backend = self.backend(whole)
        for chunk in chunks:
            backend.step(chunk, 0.025)
        backend.synchronise()
        state = None
        for half in (chunks[:3], chunks[3:]):
            backend = self.backend(parts, state=state)
            for chunk in half:
                backend.step(chunk, 0.025)
            backend.synchronise()
            state = backend.state()
        for name, array in arrays_of(whole).items():
            np.testing.assert_array_equal(array, arrays_of(parts)[name])
        words = len(whole.vectors)
        assert {name: array.shape for name, array in state.items()} == {
            "embedding_squares": (words,),
            "typical_word": (2,),
            "adam_steps": (1,),
            **{f"adam_first.{name}": whole.encoder.arrays()[name].shape for name in WEIGHTS},
            **{f"adam_second.{name}": whole.encoder.arrays()[name].shape for name in WEIGHTS},
        }

    @pytest.mark.parametrize("alpha", [0.025, 1.0, 100.0, 1e10])
    @pytest.mark.parametrize("dimensions", [1, 8])
    @pytest.mark.parametrize("residual", [False, True])
    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    def test_tables_stay_finite_at_any_rate(self, alpha, dimensions, covariance, residual):
        wv = make_wv(10, dimensions, covariance=covariance, dtype=np.float32, residual=residual)
        backend = self.backend(wv)
        for seed in range(30):
            backend.step(make_chunk(SENTENCES, seed=seed), alpha)
        backend.synchronise()
        for name, array in arrays_of(wv).items():
            assert np.isfinite(array).all(), name
        assert wv.log_variances.min() >= -10
        assert wv.log_variances.max() <= 10

    def test_an_update_that_is_not_finite_is_left_out_and_reported(self):
        wv = make_wv(10, 4, dtype=np.float32)
        wv.encoder.mean_head[:] = 1e30
        backend = self.backend(wv)
        result = backend.step(make_chunk(SENTENCES), 0.025)
        backend.synchronise()
        assert not np.isfinite(result.loss)
        for name, array in arrays_of(wv).items():
            assert np.isfinite(array).all(), name

    def test_chunk_without_pairs_changes_nothing(self):
        wv = make_wv(10, 4, dtype=np.float32)
        before = {name: array.copy() for name, array in arrays_of(wv).items()}
        backend = self.backend(wv)
        for sentences in ([], [[3]], [[1], [], [2]]):
            chunk = make_chunk(sentences, words=10)
            assert backend.step(chunk, 0.025).centres == 0
            assert backend.gradients(chunk)[0].loss == 0
        backend.synchronise()
        for name, array in arrays_of(wv).items():
            np.testing.assert_array_equal(array, before[name])
