{{ dbt_delta.landed_files('lineitem', 'parquet') }}
