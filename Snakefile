# The runs of runs.yaml as a graph. `compendium reproduce` calls this, on this machine or on a cluster (--executor slurm).
from compendium.run.plan import plan

JOBS = plan(config.get("profile", "quick"), report_only=config.get("report_only", False))


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
            command=lambda wildcards, command=job.command: command,  # in a plain string, Snakemake would replace the braces
        shell:
            "{params.command}"
