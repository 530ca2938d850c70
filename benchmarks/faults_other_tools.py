"""What other tools say of the files of `faults.py`: runs in their environment, prints one JSON line per tool and file.

Each tool gets the file as a careful user of its README would shape it, and every call that its README recommends for
such a file; if it refuses, the call that its message suggests. What it prints, returns or raises is its text.
Usage: python faults_other_tools.py FOLDER [TOOL ...]
"""

import contextlib
import importlib
import io
import json
import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

SECONDS = 60


class Study:
    """A file and what its owner knows: labels with the ends of their scales, annotators hired, models as judges.

    long : item, prompt, system, rater and a column per label; of comparisons, `first` and `second` as shown, `winner`.
    """

    def __init__(self, folder):
        known = json.loads((folder / "known.json").read_text())
        self.folder, self.hired, self.judges = folder, known["hired"], known["judges"]
        self.scales, data = known["scales"], pd.read_csv(folder / "data.csv")
        self.paired = "left" in data
        if self.paired:
            swap = data["shown_first"] == "right"
            data["first"], data["second"] = (
                data["left"].mask(swap, data["right"]),
                data["right"].mask(swap, data["left"]),
            )
            low, high = data[["left", "right"]].min(axis=1), data[["left", "right"]].max(axis=1)
            data["item"] = data["prompt"] + " " + low + " " + high
            data["better"] = data["winner"].where(data["left"] == low, -data["winner"])
            data["won"] = np.select([data["winner"] > 0, data["winner"] < 0], [data["left"], data["right"]], "tie")
            data.loc[data["winner"].isna(), "won"] = ""
            self.scales = {"better": [-1, 1]}
        else:
            data["item"] = data["dialogue"] + (" " + data["turn"].astype(str) if "turn" in data else "")
        self.long = data

    @property
    def people(self):
        return self.long[~self.long["rater"].isin(self.judges)]

    @property
    def judged(self):
        return self.long[self.long["rater"].isin(self.judges)]


def tell(call, *args, **named):
    """Print what a call returns, or what it raises."""
    try:
        answer = call(*args, **named)
    except TimeoutError:
        raise
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return None
    for method in ("to_markdown", "summary", "render"):
        if hasattr(answer, method) and not isinstance(answer, pd.DataFrame):
            said = getattr(answer, method)()
            print(said if said is not None else "")
            return answer
    print(answer)
    return answer


def evalaudit(study):
    import evalaudit as tool

    if study.paired:
        d = study.people.dropna(subset="winner")
        # a pair judged by several people was not shown in both orders to anybody
        votes = pd.DataFrame({"pair_id": d["item"] + " " + d["rater"], "option_a": d["first"], "option_b": d["second"]})
        votes["winner"] = d["won"].replace("tie", None)
        ratings = d.rename(columns={"item": "item_id", "rater": "rater_id", "better": "rating"})
        judge = _judge(study, "better")
        tell(tool.audit, comparisons=votes, ratings=ratings[["item_id", "rater_id", "rating"]], judge=judge)
        board = d.rename(columns={"first": "model_a", "second": "model_b"}).drop(columns="winner")
        board = board.rename(columns={"won": "winner"}).assign(item_id=d["prompt"])
        found = tell(tool.bradley_terry, board[["item_id", "model_a", "model_b", "winner"]], seed=0)
        print(getattr(found, "pairs", ""))
        return
    for label in study.scales:
        means = study.people.groupby(["system", "dialogue"])[label].mean().dropna()
        scores = {s: g.to_numpy() for s, g in means.groupby(level=0)}
        ratings = study.people.rename(columns={"item": "item_id", "rater": "rater_id", label: "rating"})
        config = {"claim": f"systems differ in {label}", "level": "ordinal", "seed": 0}
        given = {"ratings": ratings[["item_id", "rater_id", "rating"]], "judge": _judge(study, label)}
        tell(tool.audit, scores=scores, config=config, **given)
        best = means.groupby(level=0).mean().sort_values().index[-2:]
        tell(tool.audit, scores={s: scores[s] for s in best}, config=config | {"paired": False})


def _judge(study, label):
    if not study.judges:
        return None
    people = study.people.groupby("item")[label].median().round()
    model = study.judged.groupby("item")[label].first()
    both = pd.concat([people, model], axis=1, keys=["human", "judge"]).dropna()
    return {"human": both["human"].tolist(), "judge": both["judge"].tolist()}


def interrater(study):
    import interrater as tool

    for label, (low, high) in study.scales.items():
        wide = study.long.pivot_table(index="item", columns="rater", values=label, aggfunc="first").reset_index()
        texts = wide.drop(columns="item").map(lambda x: x if pd.isna(x) else str(int(x)))
        wide = pd.concat([wide[["item"]].astype(str), texts], axis=1)
        twice = study.long.duplicated(["item", "rater"]).any()
        points = tool.OrderedCategories(tuple(str(x) for x in range(low, high + 1)))
        layout = tool.FrameLayout(use_column_names=True, subject_id_col="item")
        # as declared beforehand; if that is refused, what is in the file
        for raters, rest in (
            (sorted({*study.hired, *study.judges}), {}),
            (list(texts.columns), {}),
            (list(texts.columns), {"unknown_policy": "empty", "unused_categories": "keep"}),
        ):
            thin = tool.InsufficientDataPolicy(2, 2, "iterate")
            config = tool.CleanerConfig(frame_layout=layout, insufficient_data_drops=thin, **rest)
            meant = tool.RatingsSemantics(raters, points, unique_subjects=not twice)
            cleaner = tell(tool.RatingsCleaner, wide, meant, config=config)
            if cleaner is None:
                continue
            print(cleaner.report.render())
            plan = tool.KrippendorffAlphaConfig(n_resamples=200, weights_type="linear")
            tell(lambda c=cleaner, p=plan: tool.KrippendorffAlphaAnalyzer(c.ratings, p).estimate())
            tell(_pairs, tool, cleaner.ratings)
            break


def _pairs(tool, ratings):
    plan = tool.KrippendorffAlphaConfig(n_resamples=2, weights_type="linear")
    plan = tool.PairwisePermutationConfig("krippendorff_alpha", plan)
    return tool.PairwisePermutationAnalysis(ratings, plan).run()


def evalstats(study):
    import evalstats as tool

    if study.paired:
        return
    for label, ends in study.scales.items():
        asked = {"factors": "model", "score_range": tuple(ends)}
        d = study.long.rename(columns={"prompt": "item", "system": "model", "item": "unit", label: "score"})
        people = d[~d["rater"].isin(study.judges)]
        raw = people.groupby(["dialogue", "model", "item", "rater"], as_index=False)["score"].mean()
        loaded = tell(tool.load_from, raw.rename(columns={"rater": "run"}).drop(columns="dialogue"))
        tell(tool.compare, loaded, **asked)
        means = people.groupby(["model", "item"], as_index=False)["score"].mean()
        loaded = tell(tool.load_from, means)
        if tell(tool.compare, loaded, **asked) is None:
            loaded = tool.load_from(means.dropna())
            tell(tool.compare, loaded, **asked, design="unpaired")
            # items that every system has
            shared = means.dropna().groupby("item")["model"].transform("size") == means["model"].nunique()
            if shared.any():
                tell(tool.compare, tool.load_from(means.dropna()[shared]), **asked)
        if study.judges:
            model = d[d["rater"].isin(study.judges)].groupby(["model", "item"], as_index=False)["score"].mean()
            both = model.rename(columns={"score": "llm_score"}).merge(means.rename(columns={"score": "human_score"}))
            loaded = tool.load_from(both, metric_cols="llm_score")
            tell(tool.judge_alignment, loaded, llm_metric="llm_score", human_groundtruth="human_score")


def errorbars(study):
    if study.paired:
        return
    for label in study.scales:
        names = {"prompt": "question_id", "system": "model", label: "score", "rater": "sample"}
        d = study.people.rename(columns=names)
        each = d.groupby(["dialogue", "question_id", "model", "sample"], as_index=False)["score"].mean()
        _run("errorbars", "leaderboard", each.drop(columns="dialogue"), study.folder / "samples.csv")
        means = d.groupby(["question_id", "model"], as_index=False)["score"].mean()
        _run("errorbars", "leaderboard", means, study.folder / "means.csv")
        _run("errorbars", "leaderboard", means.dropna(), study.folder / "complete.csv")
        units = d.groupby(["dialogue", "model", "question_id"], as_index=False)["score"].mean().dropna()
        units = units.rename(columns={"question_id": "cluster_id", "dialogue": "question_id"})
        units.to_csv(study.folder / "clusters.csv", index=False)
        for model in sorted(units["model"].unique()):
            _run("errorbars", "summarize", None, study.folder / "clusters.csv", "--model", model)


def arenakit(study):
    if not study.paired:
        return
    d = study.people
    names = {"first": "model_a", "second": "model_b", "won": "winner", "prompt": "item_id", "rater": "voter_id"}
    board = d.drop(columns="winner").rename(columns=names)[list(names.values())]
    board["winner"] = np.select(
        [board["winner"] == board["model_a"], board["winner"] == board["model_b"], board["winner"] == "tie"],
        ["model_a", "model_b", "tie"],
        "",
    )
    if (board["winner"] == "").any():
        _run("arenakit", "audit", board, study.folder / "votes.csv", "--resamples", "500")
    _run("arenakit", "audit", board[board["winner"] != ""], study.folder / "votes.csv", "--resamples", "500")


def _run(tool, command, frame, path, *options):
    """Write a frame to a file and run the tool's command on it."""
    if frame is not None:
        frame.to_csv(path, index=False)
    main = importlib.import_module(f"{tool}.cli").main
    try:
        main([command, str(path), *options])
    except TimeoutError:
        raise
    except (Exception, SystemExit) as error:
        print(f"{type(error).__name__}: {error}")


TOOLS = {f.__name__: f for f in (evalaudit, interrater, evalstats, errorbars, arenakit)}


def _late(*_):
    raise TimeoutError(f"not done after {SECONDS} seconds")


def said(tool, folder):
    """All that a tool says of the file in a folder."""
    study, out = Study(folder), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("always")
        signal.alarm(SECONDS)
        try:
            TOOLS[tool](study)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
        finally:
            signal.alarm(0)
    return out.getvalue()


if __name__ == "__main__":
    os.environ |= {"COLUMNS": "300", "OPENBLAS_NUM_THREADS": "1"}
    signal.signal(signal.SIGALRM, _late)
    for folder in sorted(p for p in Path(sys.argv[1]).iterdir() if p.is_dir()):
        for tool in sys.argv[2:] or TOOLS:
            print(json.dumps({"tool": tool, "file": folder.name, "text": said(tool, folder)}), flush=True)
