"""Section 6.4's question: should the decoder run in the cloud? A calculation with stated links.

Only what has been transformed may leave the device, so the decoder alone can move. If the anonymized window is wanted
back on the device, moving it costs a round trip. If the service that uses the window is in the cloud anyway, the window
has to go up in any case, and its latent variables go up instead: fewer bytes, one way.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """A way from the device to the cloud.

    Parameters
    ----------
    name : str
        What it is.
    round_trip : float
        Seconds there and back for an empty packet.
    up, down : float
        Bits a second.
    """

    name: str
    round_trip: float
    up: float
    down: float


# Assumed, as typical of each kind; whoever has measured theirs gives their own.
LINKS = (
    Link("server in the same network (Wi-Fi)", 0.003, 50e6, 50e6),
    Link("home broadband (Wi-Fi, fibre)", 0.015, 20e6, 100e6),
    Link("4G", 0.050, 10e6, 30e6),
    Link("3G", 0.100, 1e6, 5e6),
    Link("NB-IoT", 1.500, 60e3, 30e3),
)
HEADER = 66  # bytes: Ethernet, IPv4 and TCP with timestamps


def offloading(
    decoder: float, values: int, latent: int, *, cloud: float = 0.0, links: tuple[Link, ...] = LINKS
) -> list[dict[str, float | str]]:
    """Return what each link makes of a decoder in the cloud, seconds a window.

    Parameters
    ----------
    decoder : float
        Seconds that the decoder takes on the device.
    values, latent : int
        Values of a window and of its latent, four bytes each; one more says which decoder.
    cloud : float
        Seconds that it takes in the cloud; 0 favours the cloud.
    links : tuple of Link
        The ways there.

    Returns
    -------
    list of dict
        ``link``; ``device``: window decoded and kept; ``cloud_back``: latent up, window back; ``device_up``: window
        decoded on the device and sent up; ``cloud_stays``: latent up, decoded and used there.
    """
    rows: list[dict[str, float | str]] = []
    window, short = 4 * values + HEADER, 4 * (latent + 1) + HEADER
    for link in links:
        there = link.round_trip / 2
        rows.append(
            {
                "link": link.name,
                "device": decoder,
                "cloud_back": 2 * there + 8 * short / link.up + cloud + 8 * window / link.down,
                "device_up": decoder + there + 8 * window / link.up,
                "cloud_stays": there + 8 * short / link.up + cloud,
            }
        )
    return rows
