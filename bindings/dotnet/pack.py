#!/usr/bin/env python3
"""Packs AceMq.Core as `dotnet pack` does, where no .NET SDK is at hand: what it is made of comes from the project file.

    pack.py --assembly AceMq.Core.dll --native linux-x64=libacemq.so --out FOLDER
"""

import argparse
import pathlib
import re
import xml.etree.ElementTree as xml
import zipfile

FOLDER = pathlib.Path(__file__).parent
NUSPEC = "http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
RIDS = re.compile(r"(linux|linux-musl|osx|win)-(x64|x86|arm64|arm)")
# The same content gives the same bytes.
WHEN = (2020, 1, 1, 0, 0, 0)


def nuspec(project: xml.Element) -> bytes:
    def said(name: str) -> str:
        return project.findtext(f"PropertyGroup/{name}")

    package = xml.Element("package", xmlns=NUSPEC)
    metadata = xml.SubElement(package, "metadata")
    for name, value in [
        ("id", said("PackageId")),
        ("version", said("Version")),
        ("authors", said("Authors")),
        ("readme", said("PackageReadmeFile")),
        ("description", said("Description")),
        ("tags", said("PackageTags")),
    ]:
        xml.SubElement(metadata, name).text = value
    xml.SubElement(metadata, "license", type="expression").text = said("PackageLicenseExpression")
    dependencies = xml.SubElement(metadata, "dependencies")
    xml.SubElement(dependencies, "group", targetFramework=".NETStandard2.0")
    return xml.tostring(package, encoding="utf-8", xml_declaration=True)


def content_types(extensions: set) -> bytes:
    types = xml.Element("Types", xmlns=TYPES)
    known = {"rels": "application/vnd.openxmlformats-package.relationships+xml"}
    for extension in sorted(extensions | set(known)):
        xml.SubElement(
            types, "Default", Extension=extension, ContentType=known.get(extension, "application/octet")
        )
    return xml.tostring(types, encoding="utf-8", xml_declaration=True)


def relations(manifest: str) -> bytes:
    root = xml.Element("Relationships", xmlns=RELATIONS)
    kind = "http://schemas.microsoft.com/packaging/2010/07/manifest"
    xml.SubElement(root, "Relationship", Type=kind, Target=f"/{manifest}", Id="manifest")
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assembly", type=pathlib.Path, required=True, help="its documentation lies beside it")
    parser.add_argument("--native", action="append", required=True, metavar="RID=FILE")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()

    project = xml.parse(FOLDER / "src/AceMq.Core.csproj").getroot()
    name, version = project.findtext("PropertyGroup/PackageId"), project.findtext("PropertyGroup/Version")
    manifest = f"{name}.nuspec"
    assembly = arguments.assembly
    content = {
        manifest: nuspec(project),
        "README.md": (FOLDER / "README.md").read_bytes(),
        f"lib/netstandard2.0/{name}.dll": assembly.read_bytes(),
        f"lib/netstandard2.0/{name}.xml": assembly.with_suffix(".xml").read_bytes(),
    }
    for native in arguments.native:
        rid, _, file = native.partition("=")
        if not RIDS.fullmatch(rid):
            parser.error(f"{rid!r} is no runtime identifier; write --native linux-x64=FILE")
        path = pathlib.Path(file)
        content[f"runtimes/{rid}/native/{path.name}"] = path.read_bytes()
    extensions = {pathlib.PurePath(path).suffix[1:] for path in content}
    content = {
        "[Content_Types].xml": content_types(extensions),
        "_rels/.rels": relations(manifest),
        **content,
    }

    arguments.out.mkdir(parents=True, exist_ok=True)
    package = arguments.out / f"{name}.{version}.nupkg"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            archive.writestr(zipfile.ZipInfo(path, WHEN), data, zipfile.ZIP_DEFLATED)
    print(package)


if __name__ == "__main__":
    main()
