/**
 * The console: starts the page for a visitor with a session, and the entrance for everybody else.
 */
import { App } from "./app.ts";
import { takeLink } from "./frame.ts";
import { ConsoleService } from "./service.ts";
import { html, render } from "./ui.ts";

const service = new ConsoleService();
const link = takeLink();
const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} service=${service} first=${link} />`, root);
}
void service.begin();
