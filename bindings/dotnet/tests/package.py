#!/usr/bin/env python3
"""package.py NUPKG FOLDER: checks that a package is laid out as NuGet reads it, and unpacks it."""

import pathlib
import sys
import xml.etree.ElementTree as xml
import zipfile

NUSPEC = "{http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd}"


def main() -> None:
    package, folder = map(pathlib.Path, sys.argv[1:])
    with zipfile.ZipFile(package) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        assert len(names) == len(archive.namelist()), "a file stands twice"
        metadata = xml.fromstring(archive.read("AceMq.Core.nuspec")).find(f"{NUSPEC}metadata")
        assert metadata.findtext(f"{NUSPEC}id") == "AceMq.Core"
        version = metadata.findtext(f"{NUSPEC}version")
        assert package.name == f"AceMq.Core.{version}.nupkg", package
        workspace = (pathlib.Path(__file__).parents[3] / "Cargo.toml").read_text()
        assert f'\nversion = "{version}"\n' in workspace, "the package has another version than the engine"
        groups = metadata.findall(f"{NUSPEC}dependencies/{NUSPEC}group")
        assert [group.get("targetFramework") for group in groups] == [".NETStandard2.0"]
        assert all(len(group) == 0 for group in groups), "it has no dependencies"
        readme = metadata.findtext(f"{NUSPEC}readme")
        wanted = {
            "[Content_Types].xml",
            "_rels/.rels",
            "AceMq.Core.nuspec",
            readme,
            "lib/netstandard2.0/AceMq.Core.dll",
            "lib/netstandard2.0/AceMq.Core.xml",
            "runtimes/linux-x64/native/libacemq.so",
        }
        assert names == wanted, names ^ wanted
        assert archive.read("runtimes/linux-x64/native/libacemq.so")[:4] == b"\x7fELF"
        types = xml.fromstring(archive.read("[Content_Types].xml"))
        extensions = {entry.get("Extension") for entry in types}
        assert {pathlib.PurePath(name).suffix[1:] for name in names - {"[Content_Types].xml"}} <= extensions | {""}
        documentation = xml.fromstring(archive.read("lib/netstandard2.0/AceMq.Core.xml"))
        assert documentation.find("members/member[@name='T:AceMq.Core.RetryPolicy']/summary") is not None
        archive.extractall(folder)
    print(f"{package.name}: {len(names)} files as NuGet reads them")


if __name__ == "__main__":
    main()
