"""Calculate whether the decoder should run in the cloud (paper 3, section 6.4), for stated network links.

Only transformed data may leave the device, so the decoder alone can move to the cloud. If the device needs the
anonymized window itself, moving the decoder costs a round trip. If a service in the cloud needs the window, it must be
sent in any case; then the latent variables can be sent instead, which are fewer bytes.
"""

from typing import NamedTuple


class Link(NamedTuple):
    """Describe a network link from the device to the cloud.

    Parameters
    ----------
    name : str
        Kind of link.
    round_trip : float
        Seconds for an empty packet to the cloud and back.
    up, down : float
        Bits per second.
    """

    name: str
    round_trip: float
    up: float
    down: float


# Assumed, as typical of each kind. Pass measured values to `offloading` if you have them.
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
    """Return the seconds per window of each way to run the decoder, for each link.

    Parameters
    ----------
    decoder : float
        Seconds that the decoder takes on the device.
    values, latent : int
        Number of values of a window and of its latent variables, four bytes each. One more value names the decoder.
    cloud : float
        Seconds that the decoder takes in the cloud; 0 favours the cloud.
    links : tuple of Link
        Links to compare.

    Returns
    -------
    list of dict
        ``link``; ``device``: decode on the device and use the window there; ``cloud_back``: send latent variables up
        and the window back; ``device_up``: decode on the device and send the window up; ``cloud_stays``: send latent
        variables up and use the decoded window in the cloud.
    """
    window, short = 4 * values + HEADER, 4 * (latent + 1) + HEADER
    return [
        {
            "link": link.name,
            "device": decoder,
            "cloud_back": link.round_trip + 8 * short / link.up + cloud + 8 * window / link.down,
            "device_up": decoder + link.round_trip / 2 + 8 * window / link.up,
            "cloud_stays": link.round_trip / 2 + 8 * short / link.up + cloud,
        }
        for link in links
    ]
