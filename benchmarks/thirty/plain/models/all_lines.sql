{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['l_orderkey', 'l_linenumber'],
) }}
{{ newest('lineitem', ['l_orderkey', 'l_linenumber']) }}
