"""One page about runs, models, tests and tables.

``runs`` keeps what each run of dbt did, ``nodes`` reads the project, ``collect`` makes one document
of both and of what the tables' logs say, with ``figures`` for what follows from numbers; ``page``
writes it as one HTML file. ``operation`` is all of that for the macro ``report``.
"""
