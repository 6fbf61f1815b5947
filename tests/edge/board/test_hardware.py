"""The description of a machine comes from the system's files."""

import pytest

from sensorprivacy.edge.board.hardware import hardware

PI = {
    "proc/device-tree/model": "Raspberry Pi 3 Model B Rev 1.2\0",
    "proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\nSerial\t\t: 00000000deadbeef\n",
    "proc/meminfo": "MemTotal:         931760 kB\nMemFree: 1 kB\n",
    "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian"\n',
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "ondemand\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "1200000\n",
    "sys/class/thermal/thermal_zone0/temp": "48312\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in PI.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_pi_is_described(root):
    found = hardware(root)
    assert found["board"] == "Raspberry Pi 3 Model B Rev 1.2"
    assert (found["cpu"], found["clock_mhz"], found["governor"]) == ("Cortex-A53", 1200, "ondemand")
    assert (found["memory_bytes"], found["temperature_c"]) == (931760 * 1024, 48.312)
    assert found["system"] == "Debian GNU/Linux 12 (bookworm)"
    assert "deadbeef" not in str(found)


def test_values_that_a_system_does_not_give_are_none(tmp_path):
    found = hardware(tmp_path)
    assert found["board"] is found["memory_bytes"] is found["clock_mhz"] is found["cpu"] is None


def test_this_machine_has_cores_and_versions():
    found = hardware()
    assert found["cores"] >= found["usable_cores"] >= 1
    assert found["onnxruntime"]
    assert found["memory_bytes"] > 1e8
