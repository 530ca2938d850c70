"""Make the embedded judgements anew of the upstream files: `python data/embedded/make.py [STUDY …]`.

The raw files must be here (`python run_all.py fetch STUDY`, or $COMPENDIUM_RAW).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

if __name__ == "__main__":
    from judgebook.sources import build
    from judgebook.sources.instead import embedded
    from judgebook.study import params

    for key in sys.argv[1:] or sorted(p.parent.name for p in embedded.FOLDER.glob("*/source.json")):
        study = params.load(key)
        embedded.write(study, build.build(study).frames, embedded.FOLDER / key)
        print(f"data/embedded/{key}")
