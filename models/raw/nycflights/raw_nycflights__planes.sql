{{ dbt_delta.landed_csv('nycflights/planes', null_value='NA', columns={
    'tailnum': 'string',
    'year': 'int',
    'type': 'string',
    'manufacturer': 'string',
    'model': 'string',
    'engines': 'int',
    'seats': 'int',
    'speed': 'int',
    'engine': 'string',
}) }}
