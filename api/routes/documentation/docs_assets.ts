/**
 * Style and script of `/docs`, as files of their own so that the page's policy allows nothing
 * inline. The script filters the navigation, switches the language of samples, and sends calls. The
 * API key stays in its field: it is in no storage, no address and no sample.
 */

export const docsStyle = `
:root { color-scheme: light dark; --text: #131a22; --quiet: #515c69; --line: #d8dee5; --page: #fff; --code: #f5f7f9; --accent: #0b6b63; --bad: #b3261e; --good: #12693d; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8edf3; --quiet: #a5b1bf; --line: #2a3644; --page: #0c1219; --code: #141c26; --accent: #5eead4; --bad: #ff9a92; --good: #6fd39a; }
}
:root { --small: .875rem; --body: 1rem; --large: 1.125rem; --title: 1.5rem; }
:root { --space-1: .25rem; --space-2: .5rem; --space-3: .75rem; --space-4: 1rem; --space-5: 1.5rem; --round: .5rem; }
* { box-sizing: border-box; }
html { scroll-padding-top: var(--space-4); }
body { margin: 0; font: var(--body)/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: var(--space-4); top: var(--space-4); background: var(--page); padding: var(--space-2); }
nav { padding: var(--space-4); border-bottom: 1px solid var(--line); max-height: 45vh; overflow-y: auto; }
nav h2 { font-size: var(--small); color: var(--quiet); margin: var(--space-4) 0 var(--space-1); }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { padding: var(--space-1) 0; font-size: var(--small); }
nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
main { padding: var(--space-4); max-width: 62rem; }
section { border-top: 1px solid var(--line); padding: var(--space-4) 0 var(--space-5); }
h1, main > h2 { font-size: var(--title); line-height: 1.2; margin: var(--space-5) 0 var(--space-4); }
h3 { margin: 0 0 var(--space-1); font-size: var(--large); } h4 { margin: var(--space-5) 0 var(--space-1); font-size: var(--body); }
code, pre, textarea, input { font: var(--small)/1.5 ui-monospace, monospace; }
code { background: var(--code); border-radius: var(--space-1); padding: 0 var(--space-1); overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: var(--round); padding: var(--space-3); overflow-x: auto; margin: var(--space-2) 0; }
pre:not([role]) { white-space: pre-wrap; overflow-wrap: anywhere; }
.method { font-weight: 700; text-transform: uppercase; }
.wide { overflow-x: auto; } td:nth-child(-n+2) code { white-space: nowrap; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: var(--small); }
th, td { text-align: left; vertical-align: top; padding: var(--space-2) var(--space-3) var(--space-2) 0; border-bottom: 1px solid var(--line); }
td:last-child { min-width: 14rem; }
th { color: var(--quiet); font-weight: 600; }
.soft { color: var(--quiet); } .required { color: var(--bad); }
input, textarea, button, select { color: inherit; background: var(--page); border: 1px solid var(--quiet); border-radius: var(--round); padding: var(--space-2) var(--space-3); max-width: 100%; }
textarea { width: 100%; min-height: 7rem; } button { cursor: pointer; font: inherit; }
label { display: block; margin: var(--space-2) 0; } label input { display: block; width: 100%; max-width: 34rem; }
[role=tablist] button { border-radius: var(--round) var(--round) 0 0; border-bottom: none; } [role=tab][aria-selected=true] { background: var(--code); font-weight: 600; }
.ok { color: var(--good); } .bad { color: var(--bad); }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
  nav { position: sticky; top: 0; height: 100vh; max-height: none; border-right: 1px solid var(--line); border-bottom: none; }
  main { padding: var(--space-4) var(--space-5); }
}
@media (max-width: 48rem) {
  thead { position: absolute; left: -9999px; }
  table, tbody, tr, td { display: block; } td { border: none; padding: 0; } td:empty { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: var(--space-2) 0; } td:nth-child(-n+2) code { white-space: normal; overflow-wrap: anywhere; }
}
@media (min-width: 120rem) { html { font-size: 125%; } }
@media (min-width: 200rem) { html { font-size: 175%; } }
`;

export const docsScript = `"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const key = document.getElementById("key");

document.getElementById("filter").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase();
  for (const item of all("nav li[data-words]")) item.hidden = !item.dataset.words.includes(words);
});

for (const tab of all("[role=tab]")) {
  tab.addEventListener("click", () => {
    for (const other of all("[role=tab]")) {
      const chosen = other.dataset.language === tab.dataset.language;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const tabs = all("[role=tab]", tab.parentElement);
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
}

for (const form of all("form[data-path]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("output");
    const { method, path, credential } = form.dataset;
    if (method === "DELETE" && !confirm("Really send " + method + " " + path + "?")) return;
    const query = new URLSearchParams();
    const headers = {};
    let target = path;
    for (const field of all("input[data-in]", form)) {
      if (field.dataset.in === "path") target = target.replace("{" + field.name + "}", encodeURIComponent(field.value));
      else if (field.value !== "" && field.dataset.in === "header") headers[field.name] = field.value;
      else if (field.value !== "") query.set(field.name, field.value);
    }
    const body = form.querySelector("textarea");
    if (credential === "api_key") headers.authorization = "Bearer " + key.value.trim();
    if (body !== null && body.value.trim() !== "") headers["content-type"] = "application/json";
    output.textContent = "Sending …";
    output.className = "";
    const started = performance.now();
    try {
      const response = await fetch(target + (query.size === 0 ? "" : "?" + query), {
        method,
        headers,
        credentials: "omit",
        ...(headers["content-type"] === undefined ? {} : { body: body.value }),
      });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
      const id = response.headers.get("x-request-id");
      output.className = response.ok ? "ok" : "bad";
      output.textContent = response.status + " in " + Math.round(performance.now() - started) + " ms, request " + id + "\\n" + shown;
    } catch (error) {
      output.className = "bad";
      output.textContent = "The request failed: " + error.message;
    }
  });
}
`;
