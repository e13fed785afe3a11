from densvec.evaluation.context_files import ContextFiles

SCWS = "1\tdog\tn\tcat\tn\ta <b> dog </b>\ta <b> cat </b>\t7.0\n"
WIC = "dog\tN\t0-0\tdog animal\tdog car\n"
TEXTS = "<strong>dog</strong> <strong>cat</strong>"
COSIMLEX = f"word1\tword2\tcontext1\tcontext2\tsim1\tsim2\ndog\tcat\t{TEXTS}\t{TEXTS}\t1\t2\n"


def fill(place, files):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def test_files_are_known_by_what_they_look_like(tmp_path):
    fill(
        tmp_path,
        {
            "scws_dev.txt": SCWS,
            "ratings.txt": SCWS,
            "cosimlex_en.tsv": COSIMLEX,
            "wic_dev.data.txt": WIC,
            "wic_dev.gold.txt": "F\n",
            "wic_test.data.txt": WIC,
            "wic_test.gold.txt": "F\n",
            "README.txt": "Not a benchmark.\n",
            "notes.md": SCWS,
        },
    )
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    found = ContextFiles.find(tmp_path)
    assert found.similarity == {name: str(tmp_path / f"{name}.txt") for name in ("ratings", "scws_dev")}
    assert found.change == {"cosimlex_en": (str(tmp_path / "cosimlex_en.tsv"), None)}
    assert found.word_in_context == {
        "wic": (str(tmp_path / "wic_dev.data.txt"), str(tmp_path / "wic_test.data.txt"))
    }


def test_the_layouts_in_which_the_sets_are_published(tmp_path):
    fill(
        tmp_path,
        {
            "WiC/train/train.data.txt": WIC,
            "WiC/train/train.gold.txt": "F\n",
            "WiC/dev/dev.data.txt": WIC,
            "WiC/dev/dev.gold.txt": "F\n",
            "WiC/test/test.data.txt": WIC,
            "kit/data/data_en.tsv": "word1\tword2\tcontext1\tcontext2\n",
            "kit/gold/gold_en.tsv": "sim_context1\tsim_context2\n",
        },
    )
    found = ContextFiles.find(tmp_path)
    assert found.word_in_context == {"wic": (str(tmp_path / "WiC/dev/dev.data.txt"), None)}  # no answers
    assert found.change == {
        "data_en": (str(tmp_path / "kit/data/data_en.tsv"), str(tmp_path / "kit/gold/gold_en.tsv"))
    }
    (tmp_path / "WiC/test/test.gold.txt").write_text("F\n")
    assert ContextFiles.find(tmp_path).word_in_context["wic"][1] == str(tmp_path / "WiC/test/test.data.txt")


def test_nothing_there_is_no_error(tmp_path):
    assert ContextFiles.find(tmp_path / "absent") == ContextFiles()
