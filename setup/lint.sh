#!/usr/bin/env bash
# Every style check, each shown by name; fails at the end if one of them did.
set -uo pipefail
PATH="$PWD/.venv-lint/bin:$PATH"
status=0
check() {
    local title=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $title"
    else
        echo "FAIL  $title" && echo "$output" && status=1
    fi
}
check "ruff check" ruff check .
check "ruff format" ruff format --check .
check "shellcheck" shellcheck run .ci/run setup/*.sh
check "yamllint" yamllint --strict .
check "sqlfluff" sqlfluff lint --disable-progress-bar --nocolor --processes 2 models analyses tests/data macros
exit $status
