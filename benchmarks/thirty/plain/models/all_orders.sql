{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='o_orderkey',
) }}
{{ newest('orders', ['o_orderkey']) }}
