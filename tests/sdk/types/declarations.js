// The SDK's type declarations as the judge of samples.

import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { API, SymbolFlags } from "typescript/unstable/sync";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROJECT = here("tsconfig.json");
const GENERATED = here("generated/samples.ts");
const TSC = here("../node_modules/.bin/tsc");

/** Writes the samples as literals of their types: a field too few, too many or of a wrong type is an error then. */
export async function writeLiterals(samples) {
  const literals = samples.map(({ operation, type, state, body }, number) =>
    `// ${operation}: ${state}\nexport const sample${number}: ${type} = ${literal(body)};\n`);
  await mkdir(here("generated"), { recursive: true });
  await writeFile(GENERATED, `import Stripe from "stripe";\n\n${literals.join("\n")}`);
}

/** Without the attributes that an event says have changed: what was absent is null there, which the types do not foresee. */
function literal(body) {
  return JSON.stringify(body, (name, value) => (name === "previous_attributes" ? undefined : value), 2);
}

/** What the compiler has against them, each complaint once and with the literals cut short. */
export async function compilerErrors() {
  const compiled = await promisify(execFile)(TSC, ["--project", PROJECT, "--pretty", "false"]).catch((failed) => failed);
  const complaints = compiled.stdout.split("\n").filter(Boolean);
  return [...new Set(complaints.map((line) => line.replace(/^\S+: /, "").replaceAll(/'\{.*?\}'/g, "'{…}'")))];
}

/** The fields that a type declares. */
export class Declarations {
  #api = new API();
  #checker;
  #samples;
  #fields = new Map();

  constructor() {
    const snapshot = this.#api.updateSnapshot({ openProjects: [PROJECT] });
    const { program, checker } = snapshot.getProject(PROJECT);
    this.#checker = checker;
    const module = checker.getSymbolAtLocation(program.getSourceFile(GENERATED));
    this.#samples = module.getExports();
  }

  close() {
    this.#api.close();
  }

  /** The declared type of one of the literals. */
  typeOfSample(number) {
    return this.#checker.getTypeOfSymbol(this.#samples.get(`sample${number}`));
  }

  /** The fields of a type by name: `{ isOptional, type }`. None when it is no object, or has no fixed fields. */
  fields(type) {
    if (!this.#fields.has(type.id)) {
      const properties = type.isObjectType() ? this.#checker.getPropertiesOfType(type) : [];
      this.#fields.set(type.id, new Map(properties.map((property) => [property.name, {
        isOptional: (property.flags & SymbolFlags.Optional) !== 0,
        type: this.#checker.getTypeOfSymbol(property),
      }])));
    }
    return this.#fields.get(type.id);
  }

  /**
   * Which of the types of a union a value has: the one whose constants (`object`, `type`) are the value's. Of several (a
   * customer, and one that was deleted) the one whose required fields are all there.
   */
  narrow(type, value) {
    if (Array.isArray(value)) return this.#members(type).find((member) => this.#checker.isArrayType(member));
    const isAlike = ([name, field]) => !field.type.isLiteralType() || field.type.value === value[name];
    const isGiven = ([name, field]) => field.isOptional || name in value;
    const fields = (member) => [...this.fields(member)];
    const alike = this.#members(type).filter((member) => fields(member).length > 0 && fields(member).every(isAlike));
    return alike.find((member) => fields(member).every(isGiven)) ?? alike[0];
  }

  elementType(array) {
    return this.#checker.getTypeArguments(array)[0];
  }

  #members(type) {
    return type.isUnionType() ? type.getTypes() : [type];
  }
}
