"""SVG from vl-convert, made fit for the page: its colours become CSS variables, and a picture of 3,000 points stays small."""

import re
from xml.etree import ElementTree as ET

_SVG, _HREF = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+")
_MOVED = re.compile(r"translate\(([-\d.]+),\s*([-\d.]+)\)")
_CIRCLE = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0$")
_INHERITED = ("fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "font-size", "text-anchor", "font-weight")
_KEPT_AS_IS = frozenset({"font-family", "pointer-events", "class"})


def themed(text: str, colours: dict[str, str], *, title: str, description: str) -> str:
    """The SVG `text` for embedding in HTML.

    Parameters
    ----------
    text
        An SVG document of vl-convert.
    colours
        From colours as they stand in it to what replaces them: {"#a10001": "var(--emitted)"}.
    title, description
        What is said for the picture where it is not seen.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314 - it comes from vl-convert in this process
    for element in root.iter():
        _simplify(element, colours)
    for parent in root.iter():
        for child in list(parent):
            if child.get("display") == "none" or (child.get("class") == "background" and parent is not root):
                parent.remove(child)
        for index, child in enumerate(parent):
            if child.tag == f"{{{_SVG}}}path":
                parent[index] = _circle(child)
        _hoist(parent)
    for drawn in [child for child in root if child.tag == f"{{{_SVG}}}rect"]:
        root.remove(drawn)
    _describe(root, title, description)
    return ET.tostring(root, encoding="unicode")


def _simplify(element: ET.Element, colours: dict[str, str]) -> None:
    name, leads = element.get("aria-label"), element.attrib.pop(_HREF, None)
    if leads is not None:  # vl-convert puts an address before it; the keyboard reaches the same in the page's list
        element.attrib.update({"href": f"#{leads.rpartition('#')[2]}", "tabindex": "-1"})
    for key in [key for key in element.attrib if key.startswith("aria-") or key in ("role", *_KEPT_AS_IS - {"class"})]:
        del element.attrib[key]
    if element.get("opacity") == "1":
        del element.attrib["opacity"]
    if element.get("class", "").startswith("mark-"):
        del element.attrib["class"]
    for key, value in element.attrib.items():
        element.set(key, colours.get(value.lower(), _NUMBER.sub(_rounded, value)))
    if name and element.tag == f"{{{_SVG}}}path":
        ET.SubElement(element, f"{{{_SVG}}}title").text = name


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found.group()), 1):g}"


def _circle(path: ET.Element) -> ET.Element:
    """A path that is a circle as <circle>, a third of its length."""
    found, moved = _CIRCLE.match(path.get("d", "")), _MOVED.match(path.get("transform", ""))
    if not found or not moved:
        return path
    circle = ET.Element(f"{{{_SVG}}}circle", {"cx": moved[1], "cy": moved[2], "r": found[1]})
    circle.attrib.update({key: value for key, value in path.attrib.items() if key not in ("d", "transform")})
    circle.extend(list(path))
    return circle


def _hoist(parent: ET.Element) -> None:
    """Say once, at the group, what all of its children say."""
    children = list(parent)
    if len(children) < 2:
        return
    for key in _INHERITED:
        value = children[0].get(key)
        if value is None or any(child.get(key) != value for child in children):
            continue
        parent.set(key, value)
        for child in children:
            del child.attrib[key]


def _describe(root: ET.Element, title: str, description: str) -> None:
    root.set("role", "img")
    root.set("aria-label", f"{title}. {description}")
    root.attrib.pop("version", None)
