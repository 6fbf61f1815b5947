"""Add differentially private noise: Laplace noise to numbers, randomized response to categories, sampled by OpenDP.

Each cell gets its own noise, so the guarantee is local. Whatever value a cell holds, every published value is at most
e^epsilon times more likely than under any other value of the column's domain. The guarantee needs no other rows.
"""
