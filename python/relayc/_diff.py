"""The difference of two reports (NAME.json) as text."""

from __future__ import annotations

from typing import Any, Mapping


def _numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    arena = report["arena"]
    return {
        "options": report["options"],
        "target": report["target"],
        "arena": arena["bytes"],
        "weights": report["weight_bytes"],
        "macs": report["macs"],
        "regions": len(report["regions"]),
    } | {f"pool {pool['name']}": pool["bytes"] for pool in arena.get("pools", [])}


def _change(old: Any, new: Any) -> str:
    if isinstance(old, int) and isinstance(new, int):
        share = f", {100 * (new - old) / old:+.1f} %" if old else ""
        return f"{old} -> {new} ({new - old:+d}{share})"
    return f"{old!r} -> {new!r}"


def _rows(report: Mapping[str, Any], key: str, name: str) -> dict[str, Mapping[str, Any]]:
    return {row[name]: row for row in report.get(key, [])}


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    return "; ".join(f"{field} changed" if field == "signature" else f"{field} {_change(old.get(field), new.get(field))}"
                     for field in fields if old.get(field) != new.get(field))


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Numbers, then regions, then weights; a line for each that differs."""
    lines: list[str] = []
    before, after = _numbers(old), _numbers(new)
    for key in [*before, *(k for k in after if k not in before)]:
        if before.get(key) != after.get(key):
            lines.append(f"{key}: {_change(before.get(key), after.get(key))}")
    for kind, key, name, fields in (
        ("region", "regions", "function", ("kernel", "signature", "macs", "weight_bytes", "scratch_bytes")),
        ("weights", "weights", "symbol", ("dtype", "shape", "bytes", "crc32")),
    ):
        rows, others = _rows(old, key, name), _rows(new, key, name)
        lines += [f"- {kind} {row}" for row in rows if row not in others]
        lines += [f"+ {kind} {row}" for row in others if row not in rows]
        for row in rows:
            changed = _changes(rows[row], others[row], fields) if row in others else ""
            if changed:
                lines.append(f"  {kind} {row}: {changed}")
    return "\n".join(lines)
