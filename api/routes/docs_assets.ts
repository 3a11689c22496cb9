/**
 * Style and script of `/docs`, as files of their own so that the page's policy allows nothing inline. The script filters the
 * navigation, switches the language of samples, and sends calls. The API key stays in its field: it is in no storage, no
 * address and no sample.
 */

export const docsStyle = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #57606a; --line: #d0d7de; --back: #fff; --code: #f6f8fa; --link: #0550ae; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9da7b1; --line: #3d444d; --back: #0d1117; --code: #161b22; --link: #79b8ff; --bad: #ff9b94; --good: #56d364; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); max-height: 45vh; overflow-y: auto; }
nav h2 { font-size: .8rem; text-transform: uppercase; color: var(--soft); margin: 1rem 0 .25rem; }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { padding: .1rem 0; }
nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
main { padding: 1rem; max-width: 62rem; }
section { border-top: 1px solid var(--line); padding: 1rem 0 2rem; }
h3 { margin: 0 0 .25rem; font-size: 1.15rem; } h4 { margin: 1.25rem 0 .25rem; font-size: .95rem; }
code, pre, textarea, input { font: .875rem/1.45 ui-monospace, monospace; }
code { background: var(--code); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto; margin: .5rem 0; }
pre:not([role]) { white-space: pre-wrap; overflow-wrap: anywhere; }
.method { font-weight: 700; text-transform: uppercase; font-size: .85em; }
.wide { overflow-x: auto; } td:nth-child(-n+2) code { white-space: nowrap; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
.soft { color: var(--soft); } .required { color: var(--bad); font-size: .85em; }
input, textarea, button, select { color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: 6px; padding: .4rem .6rem; max-width: 100%; }
textarea { width: 100%; min-height: 7rem; } button { cursor: pointer; font: inherit; }
label { display: block; margin: .5rem 0; } label input { display: block; width: 100%; max-width: 34rem; }
[role=tablist] button { border-radius: 6px 6px 0 0; border-bottom: none; } [role=tab][aria-selected=true] { background: var(--code); font-weight: 600; }
.ok { color: var(--good); } .bad { color: var(--bad); }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
  nav { position: sticky; top: 0; height: 100vh; max-height: none; border-right: 1px solid var(--line); border-bottom: none; }
  main { padding: 1rem 2rem; }
}
@media (max-width: 48rem) {
  thead { position: absolute; left: -9999px; }
  table, tbody, tr, td { display: block; } td { border: none; padding: 0; } td:empty { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; } td:nth-child(-n+2) code { white-space: normal; overflow-wrap: anywhere; }
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
