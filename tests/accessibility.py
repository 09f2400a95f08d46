"""What axe-core, and the tree that a screen reader is given, say of a page."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The rules that look at colours: all that can differ between light and dark, if the same elements
# are visible in both.
COLORS = ["color-contrast", "link-in-text-block"]
RUN = """async which => {
    const found = await axe.run(document, {...which, resultTypes: ['violations']});
    return found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 160)}`));
}"""
# Sections far from the reader have sizes that were guessed; axe is to measure what readers see.
LAID_OUT = ".bd-article > section > section { content-visibility: visible !important; }"
# Words of code that look alike are alike for axe, which takes as long for each of thousands of
# them as for a paragraph: the first of each kind stays an element, the others become plain text.
CODE_ONCE = """() => {
    const seen = new Set();
    const alike = [];  // changed after all were looked at, or each look would be a new layout
    for (const word of document.querySelectorAll('pre span:not([id]):not(:has(*))')) {
        const {color, backgroundColor, fontSize, fontWeight} = getComputedStyle(word);
        const box = word.closest('pre');
        const paper = box.closest('.highlight') ?? box;
        const kind = [
            word.className, color, backgroundColor, fontSize, fontWeight,
            getComputedStyle(paper).backgroundColor, paper.parentElement.className,
            word.closest('.cell_input, .cell_output, .admonition')?.className,
        ].join();
        if (seen.has(kind)) alike.push(word);
        seen.add(kind);
    }
    alike.forEach(word => word.replaceWith(...word.childNodes));
}"""
# So it is with the parts of formulas, which are most of a chapter, and the same on all pages: a
# formula stays whole if one of its parts is the first of its kind, on that paper, in that colour;
# the others keep their box, their room and their words. The kinds that were looked at on earlier
# pages are handed in, and handed back with those of this page.
FORMULAS_ONCE = """before => {
    const paper = box => {
        for (; box; box = box.parentElement) {
            const {backgroundColor} = getComputedStyle(box);
            if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
        }
    };
    const surroundings = formula => {
        const {color, fontSize} = getComputedStyle(formula);
        const box = formula.closest('.admonition, .proof, details, figcaption, table, nav, form');
        return [color, fontSize, paper(formula), box?.tagName, box?.className];
    };
    const said = ({name, value}) => /^(role|aria)/.test(name) ? `${name}=${value}` : name;
    const seen = new Set(before);
    const alike = [];
    for (const formula of document.querySelectorAll('mjx-container')) {
        const around = surroundings(formula);
        const kinds = [formula, ...formula.querySelectorAll('*')].map(part => [
            ...around, part.parentElement.tagName, part.tagName, ...[...part.attributes].map(said),
        ].join());
        if (kinds.every(each => seen.has(each))) {
            alike.push([formula, formula.getBoundingClientRect()]);
        }
        kinds.forEach(each => seen.add(each));
    }
    for (const [formula, {width, height}] of alike) {
        if (!formula.hasAttribute('display')) formula.style.display = 'inline-block';
        formula.style.width = `${width}px`;
        formula.style.height = `${height}px`;
        formula.querySelector('mjx-math').replaceChildren();
        const math = formula.querySelector('math');
        math.textContent = math.textContent;
    }
    return [alike.length, [...seen]];
}"""
# What only a screen reader sees has no colours, but axe looks at each part of it.
SEEN_ONLY = "() => document.querySelectorAll('mjx-assistive-mml').forEach(each => each.remove())"
# What a rule about colours says of an element follows from its colour, size and paper, and from the
# tags and classes around it. Of text that is alike in all of these, in light and in dark, the first
# is looked at, on whatever page; the rest is taken away, since axe takes long for each word. All
# words of a block stay where one of its parts is new.
COLOR_KINDS = """before => {
    const seen = new Set(before);
    const hash = (sum, text) => {
        for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 281474976710597;
        return sum;
    };
    const known = new Set();
    const visit = (element, around, paper) => {
        if (!element.checkVisibility({visibilityProperty: true})) return true;
        const {
            color, fontSize, fontWeight, opacity, backgroundColor, backgroundImage,
        } = getComputedStyle(element);
        if (backgroundColor !== 'rgba(0, 0, 0, 0)') paper += backgroundColor;
        if (backgroundImage !== 'none') paper += backgroundImage;
        const tag = element.tagName;
        // A part of a formula has a class for each letter, and stands anywhere in it.
        const part = tag.startsWith('MJX-') && tag !== 'MJX-CONTAINER';
        const name = part || [tag, element.getAttribute('class')];
        const kind = hash(around, [name, color, fontSize, fontWeight, opacity, paper].join());
        let alike = seen.has(kind);
        seen.add(kind);
        for (const child of element.children) {
            alike = visit(child, part ? around : kind, paper) && alike;
        }
        if (alike) known.add(element);
        return alike;
    };
    visit(document.body, 0, '');
    window.alike = window.alike?.intersection(known) ?? known;
    return [...seen];
}"""
TAKE_ALIKE_AWAY = """() => {
    for (const element of alike) {
        for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) node.data = '';
    }
    return alike.size;
}"""
VISIBLE = "() => [...document.querySelectorAll('body *')].filter(e => e.checkVisibility()).length"
CONTROLS = ("button", "checkbox", "combobox", "link", "radio", "slider", "spinbutton", "textbox")


def prepare(page: Page) -> None:
    """Lay out all of a page, with axe-core, which a test package carries."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    page.add_style_tag(content=LAID_OUT)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    page.add_script_tag(path=Path(spec.origin).parent / "axe.min.js")


def faults(page: Page) -> list[str]:
    """Return the faults that axe sees on a prepared page, whatever its colours."""
    rules = {"label-content-name-mismatch": {"enabled": True}}
    rules |= {each: {"enabled": False} for each in COLORS}
    which = {"runOnly": {"type": "tag", "values": TAGS}, "rules": rules}
    found: list[str] = page.evaluate(RUN, which)
    return found


def faults_of_color(page: Page) -> list[str]:
    """Return the faults that axe sees in the colours of a prepared page."""
    found: list[str] = page.evaluate(RUN, {"runOnly": {"type": "rule", "values": COLORS}})
    return found


def nameless(tree: str) -> list[str]:
    """Return the controls of an accessibility tree, as Playwright writes it, that have no name."""
    lines = [line.strip().removeprefix("- ") for line in tree.splitlines()]
    return [
        line for line in lines if re.fullmatch(rf"({'|'.join(CONTROLS)})( \[[^]]*\])*(:.*)?", line)
    ]
