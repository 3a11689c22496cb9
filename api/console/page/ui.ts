/** Preact and htm as one file that all scripts of the console share: two copies of preact would not see each other's state. */
import { html as many } from "htm/preact";
import type { VNode } from "preact";

export { type ComponentChildren, createContext, render, type VNode } from "preact";
export { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";

/** Text is never taken for markup: whatever stands in a template becomes a text node or an attribute. */
export const html = many as (strings: TemplateStringsArray, ...values: unknown[]) => VNode; // cast: a list renders as well
