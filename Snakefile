# The runs of runs.yaml as a graph. `make reproduce` calls this; on a cluster call Snakemake yourself, after
# `python -m sensorprivacy reproduce --dry-run` has looked for the data:
#   snakemake --config profile=paper --executor slurm --jobs 20 --keep-going
from sensorprivacy.runner.plan import plan

JOBS = plan(config.get("profile", "quick"))


rule all:
    input:
        [job.marker for job in JOBS if job.ready],


for job in JOBS:

    rule:
        name:
            job.name
        input:
            job.inputs,
        output:
            touch(job.marker),
        threads: job.threads
        params:
            command=lambda wildcards, command=job.command: command,  # a plain string would have its braces filled in
        shell:
            "{params.command}"
