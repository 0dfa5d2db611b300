"""plot.py FILE: whether an SVG of kvc report is XML, and what it shows."""
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg"
width, height = (float(root.get(side)) for side in ("width", "height"))
for line in root.iter(SVG + "polyline"):
    points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    # A cache never holds less than it did; y grows downwards.
    assert points == sorted(points) and all(a[1] >= b[1] for a, b in zip(points, points[1:]))
    name = line.find(SVG + "title").text
    print(f"line {name}: {len(points)} points, from x {points[0][0]} to {points[-1][0]}")
print("text", "|".join(text.text for text in root.iter(SVG + "text")))
