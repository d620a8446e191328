"""Triage: from a finding to a bug with a script that a maintainer can paste."""
