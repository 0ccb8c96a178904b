{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='p_partkey',
) }}
{{ newest('part', ['p_partkey'], 'p_retailprice is not null and changed_at is not null') }}
