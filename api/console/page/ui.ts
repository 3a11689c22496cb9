/**
 * Preact and htm as one file that all scripts of the console share: two copies of preact would not
 * see each other's state.
 */
import { html as many } from "htm/preact";
import type { VNode } from "preact";
import { shownLines } from "../../../proto/base/shown_text.ts";

export { type ComponentChildren, createContext, render, type VNode } from "preact";
export { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";

// cast: a list renders as well
const template = many as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

/**
 * Text is never taken for markup: whatever stands in a template becomes a text node or an
 * attribute. Nothing in it is unseen or turns the direction of what stands beside it.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode {
  return template(
    strings,
    ...values.map((value) => typeof value === "string" ? shownLines(value) : value),
  );
}
