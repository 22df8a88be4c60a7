// The editor: TOML with the schema's completion, descriptions of fields, and messages at their places.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers, tooltips } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--c2)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--c1)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--c0)" },
  { tag: [tags.bracket, tags.punctuation], color: "var(--soft)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--card)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', 'Cascadia Mono', Consolas, 'DejaVu Sans Mono', monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--c0) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--c0) 25%, transparent)" },
  ".cm-selectionMatch, .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--c2) 25%, transparent) !important" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "6px", boxShadow: "0 4px 16px #0003", maxWidth: "46ch" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--c0)", color: "var(--card)" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "1em" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionInfo, .field": { padding: "6px 9px", font: "13px/1.45 system-ui, sans-serif", whiteSpace: "pre-line" },
  ".cm-diagnostic": { font: "13px/1.45 system-ui, sans-serif", padding: "5px 9px", whiteSpace: "pre-wrap" },
  ".cm-panels": { backgroundColor: "var(--ground)", color: "var(--ink)" },
  ".cm-textfield": { backgroundColor: "var(--card)", borderColor: "var(--edge)" },
});

/** Returns the sentences of a description as they were wrapped, in whole paragraphs. */
const unwrapped = (text) => text.replace(/([^\n])\n(?!\n)/g, "$1 ").replace(/\n\n+/g, "\n\n");

/**
 * Makes the editor.
 *
 * @param {HTMLElement} parent gets the editor
 * @param {import("./schema.js").Schema} schema gives completions and descriptions
 * @param {() => void} onChange is called when the user has changed the text
 * @param {() => void} onRun is called for Ctrl-Enter
 */
export function editor(parent, schema, onChange, onRun) {
  const complete = (context) => {
    const found = schema.complete(context.state.doc.toString(), context.pos);
    if (!found?.options.length || (!context.explicit && found.from === context.pos && !/[[.\s="]$/.test(context.state.sliceDoc(context.pos - 1, context.pos)))) return null;
    if (!context.explicit && context.state.doc.lineAt(context.pos).text.trim() === "") return null;
    const options = found.options.map((option) => ({ ...option, info: option.info ? unwrapped(option.info) : undefined }));
    return { from: found.from, options, validFor: /^"?[\w-]*$/ };
  };
  const hover = hoverTooltip((view, pos) => {
    const line = view.state.doc.lineAt(pos);
    const path = schema.pathAt(view.state.doc.toString().split("\n"), line.number - 1, pos - line.from);
    const field = path && schema.describe(path);
    if (!field?.text) return null;
    const create = () => {
      const dom = document.createElement("div");
      dom.className = "field";
      const name = dom.appendChild(document.createElement("b"));
      name.textContent = field.name;
      dom.append(`  ${field.type}\n${unwrapped(field.text)}`);
      return { dom };
    };
    return { pos, create };
  });
  const view = new EditorView({ parent });
  const extensions = [
    lineNumbers(), lintGutter(), highlightActiveLine(), highlightActiveLineGutter(), drawSelection(), history(),
    bracketMatching(), closeBrackets(), highlightSelectionMatches(), tooltips({ position: "fixed" }),
    StreamLanguage.define(toml), syntaxHighlighting(colours), look, hover,
    autocompletion({ override: [complete], icons: false }),
    EditorView.contentAttributes.of({ "aria-label": "Spec" }),
    keymap.of([
      { key: "Mod-Enter", run: () => (onRun(), true) },
      { key: "F8", run: nextDiagnostic },
      ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange();
    }),
  ];
  const at = ([row, column]) => {
    const line = view.state.doc.line(Math.max(1, Math.min(row, view.state.doc.lines)));
    // Columns are counted in characters, offsets in units of UTF-16.
    return Math.min(line.from + [...line.text].slice(0, column - 1).join("").length, line.to);
  };
  return {
    view,
    get text() {
      return view.state.doc.toString();
    },
    /** Replaces the whole text, without undo. */
    open(text) {
      view.setState(EditorState.create({ doc: text, extensions }));
    },
    /** Shows messages `{position, text, severity}` at their places; without one, at the first line. */
    show(messages) {
      const diagnostics = messages.map(({ position, text, severity }) => {
        const from = at(position ?? [1, 1]);
        const rest = view.state.doc.lineAt(from).text.slice(from - view.state.doc.lineAt(from).from);
        const token = position ? (rest.match(/^("[^"]*"?|'[^']*'?|\[+[^\]]*\]+|[^\s=,\]}]+)/)?.[0] ?? rest) : rest;
        return { from, to: from + token.length, severity, message: text };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    /** Moves the cursor to a line and column. */
    go(position) {
      view.dispatch({ selection: { anchor: at(position) }, scrollIntoView: true });
      view.focus();
    },
  };
}
