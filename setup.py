"""Build the Cython extensions; everything else is in pyproject.toml."""

import multiprocessing
import os
import re
import sys
from glob import glob
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup

if sys.platform == "win32":
    compile_args = ["/O2"]
else:
    # -fopenmp-simd only honours the `omp simd` pragmas of our own loops: no OpenMP run time, no fast-math.
    compile_args = ["-O3", "-g0", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"]

JOBS = os.cpu_count() or 1


def extension(module: str, **options: Any) -> Extension:
    """Return the extension built from the .pyx file of a module; it is rebuilt when any header changes."""
    return Extension(
        module,
        [module.replace(".", "/") + ".pyx"],
        include_dirs=["densvec/native", "densvec/text"],  # _vector.h; _tokens.h, _wordtable.h
        extra_compile_args=compile_args,
        depends=[*glob("densvec/**/*.h", recursive=True), *glob("densvec/**/*.pxd", recursive=True)],
        **options,
    )


def kernel(model: str) -> list[Extension]:
    """Return the kernel of a model twice: for float, which trains, and for double, which checks gradients."""
    module = f"densvec.native._{model}"
    double = extension(f"{module}_double", define_macros=[("DENSVEC_DOUBLE", "1")])
    double.depends.append(module.replace(".", "/") + ".pyx")  # which it includes
    return [extension(module), double]


def declare_loops(folder: Path) -> None:
    """Write what follows from the definitions of the vector loops: a list of them for C, and a struct for Cython."""
    code = "".join((folder / f"_vector_{part}.h").read_text() for part in ("loops", "rows", "product"))
    code = code.replace("PRODUCT(", "LOOP(product)(").replace("FACTOR ", "REAL ").replace("restrict ", "")
    definition = re.compile(r"^TARGET static (\w+) LOOP\((\w+)\)\(([^)]*)\) \{", re.MULTILINE)
    loops = [(kind, name, " ".join(arguments.split())) for kind, name, arguments in definition.findall(code)]
    note = "Written by setup.py."
    listed = [f"    LOOP({kind}, {name}, ({arguments}))" for kind, name, arguments in loops]
    members = [f"        {kind} (*{name})({arguments}) noexcept nogil" for kind, name, arguments in loops]
    written = {
        "_loops.h": [f"/* {note} */", " \\\n".join(["#define FOR_EACH_LOOP(LOOP)", *listed])],
        "_loops.pxd": [
            f"# {note}",
            "from densvec.native._vector cimport REAL, Adam, Descent, Product",
            'cdef extern from "_vector.h" nogil:',
            *("    ctypedef struct Loops:", "        int bits", *members),
            "    const Loops *loops_of(const char *instruction_set)",
        ],
    }
    for name, lines in written.items():
        path, text = folder / name, "\n".join([*lines, ""])
        if not path.exists() or path.read_text() != text:  # or everything would be compiled again
            path.write_text(text)


declare_loops(Path("densvec/native"))

setup(
    ext_modules=cythonize(
        [
            extension("densvec._corpus"),
            extension("densvec.text._raw"),
            extension("densvec.text._text"),
            extension("densvec.text._words"),
            extension("densvec.native._scan"),
            *kernel("bsg"),
            *kernel("skipgram"),
            *kernel("word2gauss"),
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
            "freethreading_compatible": True,  # tests/test_threads.py; CONTRIBUTING.md says what may be shared
        },
        # Workers that are not forked would start this script anew: elsewhere than on Linux, and from Python 3.14 on.
        nthreads=JOBS if multiprocessing.get_start_method() == "fork" else 0,
    ),
    options={"build_ext": {"parallel": JOBS}},
)
