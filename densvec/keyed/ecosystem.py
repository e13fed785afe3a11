"""KeyedDensities in other packages: thin methods, each importing its package when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from densvec.keyed.tables import Tables

if TYPE_CHECKING:
    from typing_extensions import Self

    from densvec.keyed import KeyedDensities

__all__ = ["Ecosystem"]

PathLike = str | os.PathLike[str]


class Ecosystem(Tables):
    """spaCy, the hub, Arrow and ONNX."""

    def to_spacy(self, nlp: Any, *, component: bool = True, lowercase: bool = False) -> Any:
        """Fill the vocabulary of a spaCy pipeline with the means; tokens get the posteriors of their words.

        See :func:`densvec.spacy.to_spacy`.

        Parameters
        ----------
        nlp : spacy.Language
            The pipeline; it is changed, and returned.
        component : bool, optional
            Whether to add the component that sets ``token._.density`` and ``doc._.densities``.
        lowercase : bool, optional
            Whether the component looks words up in lower case.

        Examples
        --------
        >>> import spacy  # doctest: +SKIP
        >>> nlp = wv.to_spacy(spacy.blank("en"))  # doctest: +SKIP
        >>> nlp("dog and cat")[0]._.density.mean.shape  # doctest: +SKIP
        (2,)
        """
        from densvec.spacy import to_spacy

        return to_spacy(self._keyed(), nlp, component=component, lowercase=lowercase)

    def save_pretrained(self, folder: PathLike, *, card: Mapping[str, Any] | None = None) -> None:
        """Write a folder in the layout of the Hugging Face hub: weights, configuration and model card.

        Parameters
        ----------
        folder : str or PathLike
            Where to write; created if necessary.
        card : mapping, optional
            What the model card says at its top, such as ``{"license": "mit", "language": "en"}``.

        Examples
        --------
        >>> import os, tempfile
        >>> folder = os.path.join(tempfile.mkdtemp(), "kiwi")
        >>> wv.save_pretrained(folder)
        >>> type(wv).from_pretrained(folder)
        KeyedDensities<vector_size=2, 4 keys, spherical, encoder>
        """
        from densvec.integrations.hub import save_pretrained

        save_pretrained(self._keyed(), folder, card=card)

    @classmethod
    def from_pretrained(cls, name: PathLike, *, mmap: str | None = None, **options: Any) -> Self:
        """Load a folder that :meth:`save_pretrained` wrote, from disk or from the Hugging Face hub.

        Parameters
        ----------
        name : str or PathLike
            A folder, for which the network is never touched; or a name such as ``"user/model"``, if there is no such
            folder.
        mmap : {None, "r", "c"}, optional
            As in :meth:`load`.
        **options
            For the hub: ``revision``, ``token``, ``cache_dir``, ``local_files_only``.

        Examples
        --------
        >>> type(wv).from_pretrained("./no/such/folder")
        Traceback (most recent call last):
        FileNotFoundError: there is no folder './no/such/folder'
        """
        from densvec.integrations.hub import from_pretrained

        return cast("Self", from_pretrained(cast("type[Any]", cls), name, mmap=mmap, **options))

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table`` with words, means, variances and counts; see `densvec.integrations.arrow`.

        Examples
        --------
        >>> wv.to_arrow().num_rows
        4
        """
        from densvec.integrations.arrow import to_arrow

        return to_arrow(self._keyed())

    @classmethod
    def from_arrow(cls, table: Any) -> Self:
        """Return the words of a ``pyarrow.Table`` such as :meth:`to_arrow` makes.

        Examples
        --------
        >>> type(wv).from_arrow(wv.to_arrow())
        KeyedDensities<vector_size=2, 4 keys, spherical>
        """
        from densvec.integrations.arrow import from_arrow

        return cast("Self", from_arrow(cast("type[Any]", cls), table))

    def save_parquet(self, path: PathLike, **options: Any) -> None:
        """Write words, means, variances and counts to a Parquet file; it has no encoder.

        Parameters
        ----------
        path : str or PathLike
            The file.
        **options
            For ``pyarrow.parquet.write_table``, such as ``compression="zstd"``.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.parquet")
        >>> wv.save_parquet(path)
        >>> type(wv).load_parquet(path).index_to_key
        ['animal', 'dog', 'cat', 'car']
        """
        from densvec.integrations.arrow import write_parquet

        write_parquet(self._keyed(), path, **options)

    @classmethod
    def load_parquet(cls, path: PathLike) -> Self:
        """Load what :meth:`save_parquet` wrote.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.parquet")
        >>> wv.save_parquet(path)
        >>> type(wv).load_parquet(path)
        KeyedDensities<vector_size=2, 4 keys, spherical>
        """
        from densvec.integrations.arrow import read_parquet

        return cast("Self", read_parquet(cast("type[Any]", cls), path))

    def export_onnx(self, path: PathLike, *, words: PathLike | None = None) -> None:
        """Write encoder and priors as an ONNX graph, for posteriors in any language; see `densvec.integrations.onnx`.

        Parameters
        ----------
        path : str or PathLike
            The file.
        words : str or PathLike, optional
            Where to write the words, one per line, in the order of their rows.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "posterior.onnx")
        >>> wv.export_onnx(path)
        >>> os.path.exists(path)
        True
        """
        from densvec.integrations.onnx import export_onnx

        export_onnx(self._keyed(), path, words=words)

    def _keyed(self) -> KeyedDensities:
        """Return this object under the name of its public class."""
        return cast("KeyedDensities", self)
