{{ dbt_delta.landed_files('orders', 'parquet') }}
