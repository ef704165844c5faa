#!/bin/bash
# Compiles the library, its tests, the benchmark and the example with mcs, where no .NET SDK is at hand:
#
#     bindings/dotnet/build.sh FOLDER
#
# What it makes runs on .NET Core 3 and later: dotnet exec --runtimeconfig FOLDER/net8.runtimeconfig.json FOLDER/….exe
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"

# compile OUTPUT SOURCES… [OPTION…]: warnings are errors, as in the project file.
compile() {
    mcs -nologo -langversion:7.2 -optimize -debug -warnaserror+ "-out:$out/$1" "${@:2}"
}

python3 "$here/tests/imports.py"
compile AceMq.Core.dll -target:library -unsafe "-doc:$out/AceMq.Core.xml" "-recurse:$here/src/*.cs"
compile AceMq.Core.Tests.exe "-r:$out/AceMq.Core.dll" "-recurse:$here/tests/*.cs"
compile Benchmark.exe "-r:$out/AceMq.Core.dll" "-recurse:$here/benchmark/*.cs"
compile PlanAndApply.exe "-r:$out/AceMq.Core.dll" "-recurse:$here/examples/PlanAndApply/*.cs"
cp "$here/tests/net8.runtimeconfig.json" "$out"
