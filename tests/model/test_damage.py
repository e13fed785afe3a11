"""Damaged files of models: each is refused with what is wrong."""

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.files import persistence
from densvec.files.persistence import DensvecFileError
from tests.model.saved import count_raw_words, drop, put, replace, rewrite


class TestDamage:
    @pytest.mark.parametrize(
        ("edit", "fault"),
        [
            (drop("parameters"), "parameters"),
            (put("parameters", value=[]), "parameters"),
            (drop("parameters", "margin"), "lack 'margin'"),
            (put("parameters", "vector_size", value=7), "size 6, the parameters say"),
            (put("parameters", "vector_size", value="6"), "vector_size"),
            (put("parameters", "vector_size", value=2**40), "size 6, the parameters say"),
            (put("parameters", "covariance", value="diagonal"), "spherical of size 6, the parameters say"),
            (put("parameters", "covariance", value="round"), "round"),
            (put("parameters", "hidden_size", value=5), "encoder.context_layer"),
            (put("parameters", "window", value=0), "window"),
            (put("parameters", "rates", value={"mean": "fast"}), "real number|not supported|must be"),
            (put("parameters", "epochs", value=-1), "epochs"),
            (drop("counters"), "counters"),
            (put("counters", "train_count", value="many"), "train_count"),
            (put("counters", "epochs_trained", value=2**60), "epochs_trained .* too large"),
            (put("loss_history", value={}), "loss_history"),
            (put("loss_history", value=[5]), "loss_history"),
            (put("loss_history", value=[{"epoch": 1}]), "loss"),
            (put("lifecycle_events", value="none"), "lifecycle_events"),
            (put("corpus_file", value=5), "corpus_file"),
            (put("run", value=3), "run"),
            (put("run", "epochs", value=0), "epochs"),
            (put("run", "epoch", value=-1), "epoch"),
            (put("run", "tally", "chunks", value=-7), "chunks"),
            (put("run", "tally", "result", value=None), "result"),
            (put("run", "start_alpha", value={"$": 1}), "start_alpha"),
            (replace("means", lambda a: a[:, :5]), "size 5|dimensions"),
            (replace("means", lambda a: a.astype(np.float16)), "means is float16"),
            (replace("encoder.embeddings", lambda a: a[:-1]), "words"),
            (replace("encoder.mean_head", lambda a: a.astype(np.float64)), "float64"),
            (replace("training.embedding_squares", lambda a: a[:-1]), "training.embedding_squares"),
            (replace("training.adam_first.mean_head", lambda a: a.T.copy()[:-1]), "adam_first.mean_head"),
            (replace("training.adam_steps", lambda a: a.astype(np.float64)), "adam_steps is float64"),
            (lambda tensors, header: tensors.pop("training.adam_steps"), "training.adam_steps"),
            (lambda tensors, header: tensors.pop("log_variances"), "parameters say"),
            (lambda tensors, header: tensors.pop("vocabulary.counts"), "vocabulary.counts"),
            (replace("vocabulary.counts", lambda a: -a), "counts holds negative numbers"),
            (count_raw_words(-1), "raw_vocabulary.counts holds negative numbers"),
            (replace("training.embedding_squares", lambda a: -a - 1), "squares holds negative numbers"),
            (
                replace("training.adam_second.mean_bias", lambda a: -a - 1),
                "adam_second.mean_bias holds negative",
            ),
            (replace("training.adam_steps", lambda a: -a - 1), "adam_steps holds negative numbers"),
            (
                lambda tensors, header: tensors.update({"attributes.count": tensors["vocabulary.counts"]}),
                "counts",
            ),
            (put("attributes", "count", value=["many"]), "counts"),
            (put("parameters", "window", value=300_000_000), "window=300000000 is too large"),
            (put("parameters", "batch_words", value=2**40), "batch_words=1099511627776 is too large"),
            (put("reading", "window", value=300_000_000), "window=300000000 is too large"),
            (put("counters", "train_count", value=-1), "train_count"),
            (put("counters", "total_train_time", value=-1.0), "total_train_time"),
            (put("loss_history", 0, "words", value=-1), "words"),
            (put("loss_history", 0, "seconds", value=-1.0), "seconds"),
            (put("run", "epoch", value=2**50), "epochs"),
            (put("run", "own", value="yes"), "own"),
            (put("run", "tally", "seconds", value="long"), "seconds"),
            (put("run", "tally", "result", "centres", value=-1), "centres"),
            (put("corpus_fingerprint", value="none"), "corpus_fingerprint"),
        ],
    )
    def test_what_does_not_belong_together_is_refused(self, path, trained, edit, fault):
        trained.save(path)
        rewrite(path, edit)
        for mmap in (None, "r"):
            with pytest.raises(DensvecFileError, match=rf"model\.dv: .*({fault})"):
                BayesianSkipGram.load(path, mmap=mmap)

    def test_a_model_without_its_encoder_is_refused(self, path, trained):
        trained.save(path)
        tensors, header = persistence.read(path, only=lambda name: not name.startswith("encoder."))
        persistence.write(path, tensors, header)
        with pytest.raises(DensvecFileError, match=r"encoder\.embeddings"):
            BayesianSkipGram.load(path)

    def test_a_failed_save_leaves_model_and_file_as_they_were(self, path, trained):
        trained.save(path)
        content = path.read_bytes()
        trained.add_lifecycle_event("odd", thing=object())
        with pytest.raises(TypeError, match=r"lifecycle_events.*thing"):
            trained.save(path)
        trained.lifecycle_events.pop()
        assert path.read_bytes() == content
        trained.save(path)
        assert path.read_bytes() == content
