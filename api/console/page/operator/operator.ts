/** The page of operators, on the admin port alone. */
import { html, render } from "../ui.ts";
import { App } from "./app.ts";
import { AdminService } from "./admin_service.ts";

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} service=${new AdminService()} />`, root);
}
