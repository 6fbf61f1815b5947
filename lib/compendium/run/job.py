"""Execute one run of ``runs.yaml`` and write how it ended: what Snakemake starts, here or on a cluster.

The command is ``python -m compendium.run.job RUN PROFILE``. It ends with exit code 0 whenever it has written the run's
status, also if the notebook failed: the other runs and the report go on.
"""

import sys
from collections.abc import Mapping
from functools import partial

from compendium.run import execute, processes, states
from compendium.run.runs import Run, before, read_runs, select
from compendium.run.states import FAILED, NO_DATA, NOT_RUN, OK, RunState


def perform(name: str, profile: str) -> RunState:
    """Execute a run, unless its data are missing or a run that it comes after failed, and write its status."""
    runs = select(read_runs(), (), profile)
    state = hindered(runs[name], runs, profile)
    if state is None:
        state = _executed(runs[name], profile)
    elif state.status == NO_DATA:
        print(f"{name}: skipped, no data {', '.join(_missing(runs[name]))}", flush=True)
    else:
        print(f"{name}: {state.reason}", flush=True)
    states.write_status(name, profile, state)
    return state


def hindered(run: Run, runs: Mapping[str, Run], profile: str) -> RunState | None:
    """Return why a run cannot start, or None. An absent data set is no failure; a corrupt one is."""
    missing = [states.read_data_state(name) for name in _missing(run)]
    if broken := [state.reason for state in missing if state.broken]:
        return RunState(FAILED, "; ".join(broken))
    if missing:
        return RunState(NO_DATA, "; ".join(f"{state.name} is not on this machine: {state.how}" for state in missing))
    earlier = {name: states.read_status(name, profile) for name in before(run, runs)}
    # Later runs do without a run whose data set is absent or corrupt.
    causes = {
        f"{name} failed" for name, state in earlier.items() if state.status == FAILED and not _missing(runs[name])
    }
    causes |= {state.reason for state in earlier.values() if state.blocked}
    return RunState(NOT_RUN, "; ".join(sorted(causes))) if causes else None


def _missing(run: Run) -> list[str]:
    return run.missing(lambda name: states.read_data_state(name).present)


def _executed(run: Run, profile: str) -> RunState:
    try:
        done = execute.run(run.notebook, run.values(profile), say=partial(print, flush=True))
    except (execute.NotebookFailedError, OSError, ValueError) as error:
        print(f"{run.name}: {error}", flush=True)
        return RunState(
            FAILED, getattr(error, "reason", str(error)), states.in_checkout(states.log_file(run.name, profile))
        )
    print(f"{run.name}: ok, {done.seconds:.0f} s", flush=True)
    return RunState(OK, outputs=states.outputs(run.name, profile))


if __name__ == "__main__":
    processes.guard()
    try:
        perform(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(processes.INTERRUPTED)
