"""The tools that the paper compares with, after their descriptions: strategies that know nothing of what is uncovered.

Each has a fair mode, with the limits and gaps of all strategies and the usual window, and one as published, with the
suffix `-published`: the originals at full size, without limits of size, nothing kept clear of, one case at a time.
"""
