# The runs of runs.yaml as a graph. `compendium reproduce` calls this, on this machine or on a cluster (--executor slurm).
# Each run writes its own status file, also if it fails or has no data, so that the report can follow it.
import os

from compendium.run.job import plan

PROFILE = config.get("profile", "quick")
JOBS = plan(PROFILE, config.get("only", []))


def places(files):
    """Return files as this folder sees them: results may be written elsewhere than into a checkout that is read-only."""
    if os.path.samefile(workflow.basedir, "."):
        return files
    return [os.path.join(workflow.basedir, each) for each in files]


rule all:
    input:
        [job.status for job in JOBS],


for job in JOBS:

    rule:
        name:
            job.name
        input:
            places(job.inputs),
        output:
            job.status,
        priority: job.priority
        localrule: job.local
        params:
            # Snakemake would replace the braces of a plain string. A run starts again when its values change.
            values=lambda wildcards, values=job.values: values,
        shell:
            "python -m compendium.run.job {rule} {PROFILE}"
