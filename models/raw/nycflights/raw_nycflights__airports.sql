{{ dbt_delta.landed_csv('nycflights/airports', null_value='NA', columns={
    'faa': 'string',
    'name': 'string',
    'lat': 'double',
    'lon': 'double',
    'alt': 'int',
    'tz': 'int',
    'dst': 'string',
    'tzone': 'string',
}) }}
