"""Measure randomized response: a whole column in one call, compared with OpenDP's mechanism cell by cell.

Uses 48,842 rows (as many as Adult) and k from 2 to 900 categories. Laplace noise is timed for comparison.

    python bench/threeway_noise.py           # seconds
    python bench/threeway_noise.py --full    # adds a million rows, writes bench/results/threeway_noise.csv
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pandas as pd

from sensorprivacy.mechanisms import SecureNoise, laplace, randomized_response

HERE = Path(__file__).resolve().parent
EPSILON = 1.0


def seconds(call) -> float:
    """Return the processor seconds a call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="a million rows as well")
    sizes = (48_842, 1_000_000) if parser.parse_args().full else (48_842,)
    noise_source, rows = SecureNoise(), []
    for n in sizes:
        for k in (2, 16, 900):
            codes = np.arange(n) % k
            ours = seconds(lambda codes=codes, k=k: randomized_response(codes, k, EPSILON, noise_source))
            truth = math.exp(EPSILON) / (math.exp(EPSILON) + k - 1)
            respond = dp.m.make_randomized_response(list(range(k)), truth)
            cells = codes[:5000].tolist()
            each = seconds(lambda cells=cells, respond=respond: [respond(cell) for cell in cells]) * n / len(cells)
            rows.append({"mechanism": f"randomized response, k = {k}", "rows": n, "one_call_s": round(ours, 3)})
            rows[-1] |= {"cell_by_cell_s": round(each, 2), "times_faster": round(each / ours, 1)}
            print(rows[-1], flush=True)
        for name, values in (("integers", np.arange(n) % 73), ("floats", np.arange(n) % 73 / 2)):
            ours = seconds(lambda values=values: laplace(values, 0, 72, EPSILON, noise_source))
            rows.append({"mechanism": f"Laplace, {name}", "rows": n, "one_call_s": round(ours, 3)})
            print(rows[-1], flush=True)
    if len(sizes) > 1:
        pd.DataFrame(rows).to_csv(HERE / "results" / "threeway_noise.csv", index=False)


if __name__ == "__main__":
    main()
