# Reads what `cargo test` printed and writes a table of suites with their counts; with closing=1 only the last line.
# Fails when a test failed, a suite ended without its result, or none ran at all.

function begin(name) {
    if (suite != "") broken(suite)
    suite = name
}

function broken(name) { rows[++count] = sprintf("%-50s  ended without a result", name); ended_early++ }

/^ +Running (unittests|tests|benches|examples)/ {
    program = $NF
    sub(/^.*\//, "", program)
    sub(/-[0-9a-f]+\)$/, "", program)
    begin(program ($2 == "unittests" ? " (unit, " $3 ")" : ""))
}

/^ +Doc-tests / { begin($2 " (examples in the documentation)") }

/^test result: / {
    passed += $4; failed += $6; ignored += $8
    if ($4 + $6 + $8 > 0) rows[++count] = sprintf("%-50s  %6d  %6d  %7d  %8s", suite, $4, $6, $8, $NF)
    suite = ""
}

END {
    if (suite != "") broken(suite)
    if (!closing) {
        printf "%-50s  %6s  %6s  %7s  %8s\n", "suite", "passed", "failed", "ignored", "time"
        for (i = 1; i <= count; i++) print rows[i]
    } else {
        printf "%d passed, %d failed, %d skipped\n", passed, failed + ended_early, ignored
    }
    exit (failed + ended_early > 0 || passed == 0)
}
