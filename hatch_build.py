"""The wheel with compiled code: `KERNBROOK_COMPILE=1 python -m pip wheel --no-deps -w dist .`

It takes some minutes, and what the package itself depends on. Without the variable the wheel is
that of the sources alone.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = """
import sys
from pathlib import Path
from kernbrook.compiler import shipped
from kernbrook.evaluation.warming import compile_ahead

compile_ahead(jobs=1)
shipped.copy_shipped(Path(sys.argv[1]))
"""


class CompiledCode(BuildHookInterface):
    """All that `kernbrook warm` compiles, for each level of processors that runs here."""

    wanted = bool(os.environ.get("KERNBROOK_COMPILE"))

    def dependencies(self) -> list[str]:
        return self.metadata.core.dependencies if self.wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not self.wanted or version == "editable":
            return
        sys.path.insert(0, sources := str(Path(self.root, "src")))
        from kernbrook.compiler.shipped import LEVELS, runs_here

        self.folder = TemporaryDirectory()  # until the wheel is written
        folder = Path(self.folder.name)
        paths = os.pathsep.join(filter(None, [sources, os.environ.get("PYTHONPATH")]))
        usual = {name: value for name, value in os.environ.items() if name[:6] != "NUMBA_"}
        running = {}
        for level in LEVELS:
            if not runs_here(level):
                self.app.display_warning(f"{level}: not compiled, this processor cannot run it")
                continue
            environment = {
                "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": LEVELS[level],
                "NUMBA_CACHE_DIR": str(folder / "cache" / level),
                "NUMBA_DISABLE_INTEL_SVML": "1", "PYTHONPATH": paths,
            }  # fmt: skip
            command = [sys.executable, "-c", PROGRAM, str(folder / "compiled" / level)]
            running[level] = subprocess.Popen(command, env=usual | environment)
        for level, process in running.items():
            if process.wait():
                raise RuntimeError(f"{level}: compiling has failed")
        if running:
            build_data["pure_python"], build_data["infer_tag"] = False, True
            build_data["force_include"][str(folder / "compiled")] = "kernbrook/_compiled"
