-- The stream has the last delivery of every hour, and nothing else.
{% set columns = 'airport_code, observed_hour, temperature_fahrenheit, precipitation_inches' %}
(
    select {{ columns }} from {{ ref('airport_weather') }}
    except all
    select {{ columns }} from {{ ref('stg_nycflights__weather') }}
)
union all
(
    select {{ columns }} from {{ ref('stg_nycflights__weather') }}
    except all
    select {{ columns }} from {{ ref('airport_weather') }}
)
