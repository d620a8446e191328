"""A campaign on several machines: a head with the strategy and the store, nodes that run and judge, Dask between them.

Nothing here is imported unless a cluster is asked for: it needs the extra `cometfuzz[cluster]`.
"""
