"""An arm64 Python with the packages of the guide's first command, for emulation by qemu-user on Debian.

    python tests/edge/arm64.py FOLDER

Debian's packages are unpacked, not installed; the package lists are in the folder, too, so the system stays as it is.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "book" / "howto" / "own-board.md"
EMULATORS = ("qemu-aarch64", "qemu-aarch64-static")
PACKAGES = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6", "libgcc-s1", "libstdc++6"),
    *("zlib1g", "libexpat1", "libssl3", "libffi8", "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1"),
)
_PLATFORMS = [word for year in ("2_17", "2_27", "2_28") for word in ("--platform", f"manylinux_{year}_aarch64")]


def emulator() -> str | None:
    """Return the program that runs arm64 programs here, if there is one."""
    return next((found for name in EMULATORS if (found := shutil.which(name))), None)


def wanted() -> list[str]:
    """Return what the guide installs on a board."""
    found = re.search(r"pip install (.*onnxruntime.*)", GUIDE.read_text(encoding="utf-8"))
    assert found, f"{GUIDE} installs no onnxruntime"
    return found[1].split()


def build(folder: Path) -> dict[str, str]:
    """Unpack Python and the packages in a folder, and return the environment that the emulator needs."""
    lists, debs, wheels, root, site = (folder / name for name in ("lists", "debs", "wheels", "root", "site"))
    for each in (lists / "partial", debs, wheels, root, site):
        each.mkdir(parents=True, exist_ok=True)
    options = ["-qq", "-o", f"Dir::State::lists={lists}", "-o", "APT::Architectures=amd64,arm64"]
    options += ["-o", "APT::Sandbox::User=root"]
    subprocess.run(["apt-get", *options, "update"], check=True, capture_output=True)
    names = [f"{name}:arm64" for name in PACKAGES]
    subprocess.run(["apt-get", *options, "download", *names], cwd=debs, check=True, capture_output=True)
    for package in debs.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "--python-version", "3.11"]
    subprocess.run([*pip, *_PLATFORMS, "-d", str(wheels), *wanted()], check=True, capture_output=True)
    for wheel in wheels.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(site)
    return {"QEMU_LD_PREFIX": str(root), "PYTHONHOME": str(root / "usr"), "PYTHONPATH": str(site)}


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
