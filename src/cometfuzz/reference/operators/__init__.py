"""The meaning of operators that no formula of their block says; files are named as in `catalogue/operators/`."""
