"""One page about runs, models, tests and tables.

``runs`` keeps what each run of dbt did, ``nodes`` reads the project, ``collect`` makes one document
of both and of what the tables' logs say, ``page`` writes it as one HTML file.
"""
