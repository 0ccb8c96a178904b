{{ dbt_delta.landed_csv('nycflights/airlines', null_value='NA', columns={
    'carrier': 'string',
    'name': 'string',
}) }}
