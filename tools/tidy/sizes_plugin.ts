/**
 * Measures TypeScript for `tools/tidy.ts`, on the syntax tree of Deno's linter: each size is a
 * message of the linter. Comments, blank lines and the way in which a statement is wrapped count
 * nothing.
 */
import type { MeasuredSize } from "./ceilings.ts";

interface MeasuredScope {
  readonly name: string;
  statements: number;
  branches: number;
}

const statements = new Set([
  ...[
    "Expression",
    "If",
    "Switch",
    "For",
    "ForIn",
    "ForOf",
    "While",
    "DoWhile",
    "Try",
    "Return",
    "Throw",
    "Break",
  ]
    .map((kind) => `${kind}Statement`),
  "ContinueStatement",
  "LabeledStatement",
  "VariableDeclaration",
  "FunctionDeclaration",
  "ClassDeclaration",
  "TSEnumDeclaration",
  "PropertyDefinition",
  "MethodDefinition",
]);
const branches = new Set([
  "IfStatement",
  "ConditionalExpression",
  "SwitchStatement",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
  "CatchClause",
]);
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const fields = new Set(["PropertyDefinition", "TSParameterProperty"]);

/**
 * A function's statements include those of functions inside it; its branches are its own, and a
 * table of cases is one.
 */
const sizes: Deno.lint.Rule = {
  create(context): Deno.lint.LintVisitor {
    const scopes: MeasuredScope[] = [];
    const classes: { readonly name: string; fields: number }[] = [];
    let [total, imports] = [0, 0];
    const say = (node: Deno.lint.Node, sized: Omit<MeasuredSize, "path" | "line">): void =>
      context.report({ node, message: JSON.stringify(sized) });
    return {
      "*"(node: Deno.lint.Node): void {
        if (statements.has(node.type)) {
          total++;
          for (const scope of scopes) scope.statements++;
        }
        const scope = scopes.at(-1);
        if (scope !== undefined && branches.has(node.type)) scope.branches++;
        if (node.type === "ImportDeclaration") imports++;
        const around = classes.at(-1);
        if (around !== undefined && fields.has(node.type) && !("static" in node && node.static)) {
          around.fields++;
        }
        if (node.type === "ClassBody") classes.push({ name: nameOf(node.parent), fields: 0 });
        if (functions.has(node.type)) {
          scopes.push({ name: nameOf(node), statements: 0, branches: 0 });
        }
      },
      "*:exit"(node: Deno.lint.Node): void {
        if (node.type === "Program") {
          say(node, { rule: "file_statements", place: "", size: total });
          say(node, { rule: "imports", place: "", size: imports });
        }
        const ended = node.type === "ClassBody" ? classes.pop() : undefined;
        if (ended !== undefined) {
          say(node, { rule: "fields", place: ended.name, size: ended.fields });
        }
        const scope = functions.has(node.type) ? scopes.pop() : undefined;
        if (scope === undefined) return;
        say(node, { rule: "function_statements", place: scope.name, size: scope.statements });
        say(node, { rule: "branches", place: scope.name, size: scope.branches });
      },
    };
  },
};

/** The linter's own types have no way from any node to its parent. */
interface NamedNode {
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string } | null;
  readonly parent?: NamedNode | null;
}

/**
 * The names on the way to it, as in `Channel.send`: a function without a name has that of what it
 * stands in.
 */
function nameOf(node: Deno.lint.Node): string {
  const names: string[] = [];
  // cast: see `NamedNode`; every node has these properties, or undefined
  for (let at: NamedNode | null | undefined = node as unknown as NamedNode; at; at = at.parent) {
    const name = at.id?.name ?? at.key?.name;
    if (typeof name === "string") names.unshift(name);
  }
  return names.join(".");
}

export default { name: "tidy", rules: { sizes } } satisfies Deno.lint.Plugin;
