{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['l_orderkey', 'l_linenumber'],
) }}
{{ newest('lineitem', ['l_orderkey', 'l_linenumber'], 'l_quantity > 0 and l_discount <= 1') }}
