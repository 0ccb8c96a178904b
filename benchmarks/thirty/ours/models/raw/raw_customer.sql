{{ config(on_schema_change='append_new_columns') }}
{{ dbt_delta.landed_files('customer', 'parquet', drift='add') }}
