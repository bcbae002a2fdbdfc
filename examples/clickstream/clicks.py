#!/usr/bin/env python3
"""Makes clicks of a web shop, as files of JSON lines: the example's input.

  python3 examples/clickstream/clicks.py --out clickstream-data/in [--clicks 2000] [--files 8] [--seed 1]

Most clicks come in order, give or take two minutes. Some come twice, with the same event_id: soon, or as good as new hours later;
some come ten minutes or more behind the others; some carry the time of a clock that is a century ahead; some lack what the contract
asks for; some are no JSON, or no text at all.
Equal arguments make equal files. Each file is written under a hidden name and renamed, as a watched folder wants it.
"""
import argparse
import datetime
import json
import pathlib
import random

FIRST = datetime.datetime(2026, 3, 1, 22, 0, 0)
USERS, PAGES = 40, ("/", "/search", "/item", "/cart", "/pay")


def text(moment):
    return moment.isoformat(" ", "milliseconds")


def click(number, moment, chance):
    return {"event_id": f"e{number:07}", "user_id": f"u{chance.randrange(USERS):03}", "page": chance.choice(PAGES), "event_ts": text(moment)}


def line(row):
    return json.dumps(row).encode()


def broken(row, chance):
    """The row's line without what the contract asks for."""
    return chance.choice((
        line(row)[:-9],
        b"\xff\xfe no text at all",
        line({name: value for name, value in row.items() if name != "event_id"}),
        line(row | {"user_id": ""}),
        line(row | {"event_ts": "yesterday"}),
    ))


def lines(clicks, chance):
    moment, sent = FIRST, []
    for number in range(clicks):
        moment += datetime.timedelta(milliseconds=chance.randrange(1, 20000))
        row = click(number, moment - datetime.timedelta(milliseconds=chance.randrange(120000)), chance)
        fate = chance.random()
        if fate < 0.03:
            row["event_ts"] = text(moment - datetime.timedelta(minutes=chance.randrange(10, 90)))
        elif fate < 0.04:
            row["event_ts"] = text(moment.replace(year=2126))
        if fate > 0.97:
            yield broken(row, chance)
            continue
        yield line(row)
        if 0.04 <= fate < 0.12:
            sent.append((number + chance.randrange(1, 12), row))
        elif 0.12 <= fate < 0.13:
            again = moment + datetime.timedelta(hours=2)
            sent.append((number + 720, row | {"event_ts": text(again)}))
        for due in [entry for entry in sent if entry[0] <= number]:
            sent.remove(due)
            yield line(due[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder, made if it is not there")
    parser.add_argument("--clicks", type=int, default=2000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = list(lines(options.clicks, random.Random(options.seed)))
    options.out.mkdir(parents=True, exist_ok=True)
    for number in range(options.files):
        part = made[number * len(made) // options.files:(number + 1) * len(made) // options.files]
        hidden = options.out / f".clicks-{number:04}.ndjson"
        hidden.write_bytes(b"".join(each + b"\n" for each in part))
        hidden.rename(options.out / f"clicks-{number:04}.ndjson")
    print(f"{len(made)} clicks in {options.files} files")


if __name__ == "__main__":
    main()
