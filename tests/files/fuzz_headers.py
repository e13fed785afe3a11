"""atheris on the loader: `make fuzz-native`. Bytes that it finds are a file, or the header of a file that is whole.

Nothing but DensvecFileError may be raised: by the layer of files for any bytes, and by the models for any JSON.
"""

import contextlib
import io
import json
import logging
import random
import sys

import atheris

with atheris.instrument_imports(include=["densvec"]):
    from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
    from densvec.cli.info import readable, summary
    from densvec.files import persistence
    from densvec.files.packing import dump_json, load_json
    from densvec.files.persistence import DensvecFileError
    from densvec.files.schema import check_summary
    from tests.files.mutations import change_json

SENTENCES = [["the", "cat", "sat"], ["the", "dog", "sat"]] * 4
MODELS = [BayesianSkipGram, SkipGram, Word2Gauss]


def files():
    """Return each class with a file of it, its tensors and its header."""
    found = []
    for cls in MODELS:
        file = io.BytesIO()
        cls(SENTENCES, vector_size=3, min_count=1, workers=1, batch_words=10, sample=0, epochs=1).save(file)
        tensors, header = persistence.read(io.BytesIO(file.getvalue()))
        found += [(cls, file.getvalue(), tensors, header), (KeyedDensities, file.getvalue(), tensors, header)]
    return found


FILES = files()


def load(data):
    """Read bytes as a file; then as the JSON of a header, for tensors that are whole."""
    if not data:
        return
    cls, _, tensors, _ = FILES[data[0] % len(FILES)]
    with contextlib.suppress(DensvecFileError):
        persistence.read(io.BytesIO(data[1:]), max_bytes=1 << 20)
    with contextlib.suppress(DensvecFileError), persistence.faults_of("the file"):
        document = load_json(data[1:].decode())
        if isinstance(document, dict):
            cls._restore(document, tensors)
    try:
        with persistence.faults_of("the file"):
            document = load_json(data[1:].decode())
            if isinstance(document, dict):
                check_summary(document)
    except DensvecFileError:
        return
    if isinstance(document, dict):
        readable(summary("the file", document))


def mutate(data, size, seed):
    """Start from what is whole, a file or a header; change bytes, or something in the JSON."""
    if len(data) < 8 or seed % 5 == 0:
        number = seed // 5 % len(FILES)
        _, content, _, header = FILES[number]
        data = bytes([number]) + (content if seed % 7 == 0 else dump_json(header).encode())[: size - 1]
    if seed % 2:
        with contextlib.suppress(ValueError, RecursionError):
            changed = change_json(json.loads(data[1:]), random.Random(seed))
            return data[:1] + json.dumps(changed).encode()[: size - 1]
    return atheris.Mutate(data, size)


if __name__ == "__main__":
    logging.disable()
    atheris.Setup(sys.argv, load, custom_mutator=mutate)
    atheris.Fuzz()
