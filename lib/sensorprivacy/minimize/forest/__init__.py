"""Train random forests for many subsets of one table, faster than one by one."""
