{#
    The condition that a text does not fit a type exactly: the cast fails, drops something or adds something. Spark
    rounds decimals and floating-point numbers, cuts off what follows a date, completes `2024` with the first day and
    `10:00:00` with the present day, drops a time zone, moves an hour that a time zone skips, and reads 1d and 0x1p3
    as numbers. Blanks around a value are ignored. Empty for types that accept any text.
#}
{% macro _misfit(text, type) -%}
    {%- set name = dbt_delta._type_name(type) -%}
    {%- set kind, sizes = name.split('(')[0], modules.re.findall('\\d+', name) -%}
    {%- if kind in ('string', 'binary', 'variant') or kind.startswith('stringcollate') -%}
        {{- return('') -}}
    {%- endif -%}
    {%- if kind in ('varchar', 'char', 'character') and sizes -%}
        {{- return('length(' ~ text ~ ') > ' ~ sizes[0]) -}}
    {%- endif -%}
    {%- set value = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
    {%- set reasons = [] -%}
    {%- set pattern = dbt_delta._written(kind) -%}
    {%- if pattern is not none -%}
        {%- do reasons.append(text ~ ' not rlike ' ~ dbt_delta._literal('^\\s*(' ~ pattern ~ ')\\s*$')) -%}
    {%- endif -%}
    {%- do reasons.append(value ~ ' is null') -%}
    {%- if kind == 'decimal' -%}
        {%- do reasons.append(dbt_delta._scale_of(text) ~ ' > ' ~ (sizes[1] if sizes | length == 2 else 0)) -%}
    {%- elif kind in ('float', 'double') -%}
        {%- do reasons.append(dbt_delta._loses_digits(text, value, kind)) -%}
    {%- elif kind in ('date', 'timestamp', 'timestamp_ntz') -%}
        {%- do reasons.append('year(' ~ value ~ ') not between 1 and 9999') -%}
    {%- endif -%}
    {%- set moved = 'not (cast(' ~ value ~ ' as timestamp_ntz) <=> try_cast(' ~ text ~ ' as timestamp_ntz))' -%}
    {%- if kind == 'timestamp' -%}
        {%- do reasons.append(
            text ~ ' not rlike ' ~ dbt_delta._literal(':.*(Z|UTC|GMT|[+-][0-9:]+)\\s*$') ~ ' and ' ~ moved
        ) -%}
    {%- elif kind.startswith('interval') -%}
        {%- do reasons.append(text ~ " rlike '[.][0-9]{6}[0-9]*[1-9]'") -%}
    {%- endif -%}
    {#- The reasons cost much more than a look at the text. -#}
    {%- set reasons, plain = '(' ~ reasons | join(' or ') ~ ')', dbt_delta._plain_text(kind, sizes) -%}
    {%- if plain -%}
        {%- set is_plain = text ~ ' rlike ' ~ dbt_delta._literal('^' ~ plain ~ '\\z') -%}
        {%- set of_plain = moved if kind == 'timestamp' else 'false' -%}
        {%- set reasons = 'if(' ~ is_plain ~ ', ' ~ of_plain ~ ', ' ~ reasons ~ ')' -%}
    {%- endif -%}
    {{- return(text ~ ' is not null and ' ~ reasons) -}}
{%- endmacro %}

{# A pattern for texts that certainly fit a type, for a timestamp if no time zone skips them; none for other types. #}
{% macro _plain_text(kind, sizes) -%}
    {%- set scale = sizes[1] | int if sizes | length == 2 else 0 -%}
    {%- set whole = {
        'tinyint': 2, 'smallint': 4, 'int': 9, 'bigint': 18, 'float': 3, 'double': 8,
        'decimal': (sizes[0] | int if sizes else 10) - scale,
    }.get(kind, 0) -%}
    {%- set places = {'float': 3, 'double': 7, 'decimal': scale}.get(kind, 0) -%}
    {%- if whole > 0 -%}
        {{- return('-?[0-9]{1,' ~ whole ~ '}' ~ ('([.][0-9]{1,' ~ places ~ '})?' if places else '')) -}}
    {%- endif -%}
    {#- Each month has a 28th. -#}
    {%- set day = '[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])' -%}
    {%- set time = '[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?' -%}
    {{- return({'date': day, 'timestamp': day ~ time, 'timestamp_ntz': day ~ time}.get(kind)) -}}
{%- endmacro %}

{# A pattern, in Java's syntax, for the text of a type's values; none if the cast alone decides. #}
{% macro _written(kind) -%}
    {%- set number = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?' -%}
    {%- set day = '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}' -%}
    {%- set time = '[ T][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{0,6}0*)?)?' -%}
    {%- set whole = '[+-]?[0-9]+' -%}
    {{- return({
        'tinyint': whole, 'smallint': whole, 'int': whole, 'bigint': whole,
        'decimal': number,
        'float': number ~ '|(?i)[+-]?(nan|inf|infinity)',
        'double': number ~ '|(?i)[+-]?(nan|inf|infinity)',
        'boolean': '(?i)(true|t|yes|y|1|false|f|no|n|0)',
        'date': day ~ '([ T]0{1,2}:0{1,2}(:0{1,2}([.]0*)?)?)?',
        'timestamp_ntz': day ~ '(' ~ time ~ ')?',
        'timestamp': day ~ '(' ~ time ~ '( ?(Z|UTC|GMT|[+-][0-9]{1,2}(:?[0-9]{2})?))?)?',
    }.get(kind)) -}}
{%- endmacro %}

{# The digits of a number as text, without those of its exponent. #}
{% macro _digits_of(text) -%}
    {{- return("regexp_replace(" ~ text ~ ", '[eE].*|[^0-9]', '')") -}}
{%- endmacro %}

{# The number of decimal places of a number such as 1.20 or 12e-1; NULL for a zero. #}
{% macro _scale_of(text) -%}
    {%- set digits = dbt_delta._digits_of(text) -%}
    {{- return(
        'if(' ~ digits ~ " rlike '[1-9]', length(regexp_extract(" ~ text ~ ", '[.]([0-9]*)', 1))"
        ~ ' - length(regexp_extract(' ~ digits ~ ", '(0*)$', 1))"
        ~ ' - coalesce(try_cast(regexp_extract(' ~ text ~ ", '[eE]([+-]?[0-9]+)', 1) as int), 0), null)"
    ) -}}
{%- endmacro %}

{#
    The condition that a floating-point number does not have the digits of its text. A number that is not subnormal
    keeps any 15 digits (float: 6). Of more digits, those that it shows count, rounded to the length of the text.
    Programs write a double with a fraction with 17 digits, such as 72.886806000000007, to read the same number back.
#}
{% macro _loses_digits(text, value, kind) -%}
    {%- set written, shown = [], [] -%}
    {%- for found, number in ((written, text), (shown, 'cast(' ~ value ~ ' as string)')) -%}
        {%- do found.append('regexp_replace(' ~ dbt_delta._digits_of(number) ~ ", '^0+|0+$', '')") -%}
    {%- endfor -%}
    {%- set written, shown = written[0], shown[0] -%}
    {%- set smallest = '1.17549435E-38' if kind == 'float' else '2.2250738585072014E-308' -%}
    {%- set has_fraction = text ~ " rlike '[.][0-9]*[1-9]' and (" ~ text ~ " rlike '[eE]' or abs(" ~ value
        ~ ') < 9007199254740992)' -%}
    {%- set certain = '6' if kind == 'float' else 'if(' ~ has_fraction ~ ', 17, 15)' -%}
    {%- set distance = 'abs(cast(concat(\'0.\', ' ~ written ~ ') as decimal(27,26)) - cast(concat(\'0.\', '
        ~ shown ~ ') as decimal(27,26)))' -%}
    {{- return(
        written ~ " <> '' and (" ~ value ~ ' = 0 or abs(' ~ value ~ ") = double('infinity')"
        ~ ' or (length(' ~ written ~ ') > ' ~ certain ~ ' or abs(' ~ value ~ ') < double(\'' ~ smallest ~ "'))"
        ~ ' and (length(' ~ written ~ ') > 25 or 2 * ' ~ distance
        ~ " > cast(concat('1e-', length(" ~ written ~ ')) as decimal(27,26))))'
    ) -}}
{%- endmacro %}
