"""Holds bundles against what they say they conform to; `make validate`, or this file and paths of bundles.

Needs roc-validator, rocrate and mlcroissant. Without a network the terms of RO-Crate are those that rocrate comes with.
"""

import sys
import tempfile
import zipfile
from importlib.resources import files
from pathlib import Path

import requests

#: two of RO-Crate 1.1's own recommendations that the owner of a study meets: author (`heds.completed_by`), publisher
OWNERS = ("ro-crate-1.1_22.2", "ro-crate-1.1_22.3")


def answer(session, method, url, *args, **kwargs):
    """The terms of RO-Crate from this machine, if the network does not have them."""
    try:
        return online(session, method, url, *args, **kwargs)
    except requests.ConnectionError:
        if not url.startswith("https://w3id.org/ro/crate/"):
            raise
        response = requests.Response()
        response.status_code, response.url = 200, url
        response.headers["Content-Type"] = "application/ld+json"
        response._content = files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
        return response


online, requests.Session.request = requests.Session.request, answer


def problems(path):
    from rocrate_validator import services

    settings = {"rocrate_uri": path, "profile_identifier": "ro-crate-1.1", "requirement_severity": "RECOMMENDED"}
    issues = services.validate(services.ValidationSettings.parse(settings)).get_issues()
    return [f"{issue.check.identifier} {issue.message}" for issue in issues if issue.check.identifier not in OWNERS]


def described(path):
    """Problems of `croissant.json`, and of reading the judgements as it says; None where the bundle has none."""
    import mlcroissant

    with tempfile.TemporaryDirectory() as folder:
        if zipfile.is_zipfile(path):
            zipfile.ZipFile(path).extractall(folder)
        metadata = Path(folder if zipfile.is_zipfile(path) else path) / "croissant.json"
        if not metadata.is_file():
            return None
        try:
            data = mlcroissant.Dataset(jsonld=str(metadata))
            next(iter(data.records("annotations")))
        except (mlcroissant.ValidationError, mlcroissant.DatasetCollectionError, StopIteration) as error:
            return [f"{type(error).__name__}: {error}"]
        return sorted(data.metadata.issues.warnings | data.metadata.issues.errors)


def main(paths):
    found = 0
    for path in paths:
        said = problems(path)
        found += len(said)
        print(f"{path}: RO-Crate 1.1, recommended: {'valid' if not said else f'{len(said)} problems'}")
        print("".join(f"  {line}\n" for line in said), end="")
        if (said := described(path)) is not None:
            found += len(said)
            print(f"{path}: Croissant: {'valid' if not said else f'{len(said)} problems'}")
            print("".join(f"  {line}\n" for line in said), end="")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
