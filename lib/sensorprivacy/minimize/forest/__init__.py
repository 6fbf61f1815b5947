"""Train random forests for many subsets of one table at once, faster than one by one."""
