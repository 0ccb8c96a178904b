{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='c_custkey',
    on_schema_change='append_new_columns',
) }}
{{ newest('customer', ['c_custkey'], 'c_custkey is not null') }}
