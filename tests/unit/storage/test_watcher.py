"""Watching where the machine does not let us, and where links lead elsewhere."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from ricordo.storage.reader import list_folders
from ricordo.storage.watcher import FileEvents, watch


async def told_of(
    path: Path, batches: AsyncIterator[FileEvents], *others: Path
) -> list[FileEvents]:
    """Write to `others` and to `path`, again and again; return the batches up to the one that tells
    of `path`.
    """

    async def tell() -> list[FileEvents]:
        found: list[FileEvents] = []
        while not found or not any(it.endswith(path.name) for it in found[-1].paths):
            found.append(await anext(batches))
        return found

    told = asyncio.create_task(tell())
    for number in range(200):
        for written in (*others, path):
            written.write_text(f"{number}\n")
        await asyncio.sleep(0.1)
        if told.done():
            break
    return await asyncio.wait_for(told, 1)


@pytest.mark.parametrize("error", [OSError(28, "no watches left"), WatchfilesRustInternalError("")])
async def test_without_watches_a_directory_is_polled_and_reports_it(
    root: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    awatch = watchfiles.awatch

    def scarce(*words: Any, **options: Any) -> Any:
        if not options["force_polling"]:
            raise error
        return awatch(*words, **options)

    monkeypatch.setattr(watchfiles, "awatch", scarce)
    batches = watch(str(root))
    first = [await anext(batches) for _ in range(3)]
    assert [(batch.is_polling, batch.needs_full_read) for batch in first] == [
        (False, False),
        (True, True),
        (True, False),
    ]
    found = await told_of(root / "a.md", batches)
    assert found[-1].is_polling


async def test_what_a_link_points_to_is_not_watched(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    (root / "everything").symlink_to("/")
    batches = watch(str(root))
    found = await told_of(root / "a.md", batches, outside / "x.md")
    assert {path for batch in found for path in batch.paths} == {"a.md"}
    assert not any(batch.is_polling for batch in found)


async def test_a_name_that_is_no_utf8_does_not_end_the_watching(root: Path) -> None:
    odd = Path(os.fsdecode(os.path.join(os.fsencode(root), b"latin\xe9.md")))
    batches = watch(str(root))
    await anext(batches)
    told = asyncio.create_task(anext(batches))
    while not told.done():
        odd.write_text("a\n")
        await asyncio.wait((told,), timeout=0.1)
    assert told.result() == FileEvents(frozenset(), needs_full_read=True)
    found = await told_of(root / "a.md", batches)
    assert not any(batch.is_polling for batch in found)


async def test_a_folder_that_comes_is_watched_too(root: Path) -> None:
    batches = watch(str(root))
    await anext(batches)
    told = asyncio.create_task(anext(batches))
    await asyncio.sleep(0.3)
    (root / "later" / "deep").mkdir(parents=True)
    assert "later" in (await asyncio.wait_for(told, 10)).paths
    assert (await anext(batches)).needs_full_read
    found = await told_of(root / "later" / "deep" / "a.md", batches)
    assert "later/deep/a.md" in found[-1].paths


def test_no_folder_behind_a_link_is_watched(root: Path) -> None:
    (root / "everything").symlink_to("/")
    assert list_folders(str(root)) == {str(root)}
