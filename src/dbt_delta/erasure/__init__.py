"""Erasure: what a table's folder still holds of subjects, and the certificate that says so."""
