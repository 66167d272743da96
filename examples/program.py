"""A tagger as a program, for `use = "command:python program.py"`: one JSON line in, one JSON line out, the same id.

Put your model where `tags` is. Standard output carries answers and nothing else; write logs to standard error.
"""

import json
import sys


def tags(path: str) -> list[str]:
    return ["person", "outdoors"]


def main() -> None:
    print("the model is loaded", file=sys.stderr)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply = {"answer": tags(question["content"]), "version": "1"}
        except Exception as error:  # this question fails, the next one is answered
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"id": question["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
