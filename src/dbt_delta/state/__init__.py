"""Nodes whose inputs did not change are not run: ``build_when: inputs_changed``."""
