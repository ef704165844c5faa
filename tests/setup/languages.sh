# The packages for other languages. Sourced by ../../test.
#
# LANGUAGE.sh beside this file defines have_LANGUAGE, which installs what is needed, and test_LANGUAGE, which builds the
# package, runs its tests, and runs the conformance suites through its public surface. test_LANGUAGE stops at the first failure
# and runs in a shell of its own, which sees what have_LANGUAGE exports. The conformance runner leaves one line in
# $ACEMQ_RESULTS/LANGUAGE.tsv: the language's name, cases run, cases in the index, failures.
languages=(c go python ruby dotnet)

export ACEMQ_RESULTS=${CARGO_TARGET_DIR:-$PWD/target}/results

# test_languages: all of them; fails when one fails.
test_languages() {
    local language failed=0
    rm -rf "$ACEMQ_RESULTS"
    mkdir -p "$ACEMQ_RESULTS"
    for language in "${languages[@]}"; do
        step "$language"
        . "tests/setup/$language.sh"
        if ! "have_$language"; then
            note "the package for $language: what it needs could not be installed"
        elif ! bash -euo pipefail -c '. "tests/setup/$0.sh"; "test_$0"' "$language"; then
            echo "FAILED: $language" >&2
            failed=1
        fi
    done
    return $failed
}

# conformance_table: what every runner did; fails when one ran other cases than there are, or failed.
conformance_table() {
    local language lines=()
    for language in "${languages[@]}"; do
        lines+=("$(cat "$ACEMQ_RESULTS/$language.tsv" 2>/dev/null || printf '%s\t0\t?\t?' "$language")")
    done
    printf '%s\n' "${lines[@]}" | awk -F '\t' '
        BEGIN { printf "%-10s %10s %15s %9s\n", "language", "cases run", "in the index", "failures" }
        { printf "%-10s %10s %15s %9s\n", $1, $2, $3, $4; if ($2 != $3 || $4 != 0) bad = 1 }
        END { exit bad }'
}
