"""Table 2 of Finch et al. 2023, counted by hand."""

from compendium.published.consistency import views


def test_counts_by_hand():
    found = views.marks()
    assert found.shape == (14, 7)
    assert found.loc[views.OWN].all()
    prose, table = views.survey(found)
    rows = table.frame.set_index("Aspect")
    own = {a: int(rows.at[a, a]) for a in rows}
    assert list(own.values()) == [9, 5, 4, 10, 6, 3, 5]
    # sensitivity and importance: Deriu et al. and Ji et al.; importance and distinctness: Phy et al.
    assert rows.at["Sensitivity", "Importance"] == rows.at["Importance", "Sensitivity"] == 2
    assert rows.at["Importance", "Distinctness"] == 1
    zero = [(a, b) for i, a in enumerate(rows) for b in list(rows)[i + 1 :] if not rows.at[a, b]]
    assert prose.text.count("together with") == len(zero) == 4
