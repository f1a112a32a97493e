// The table of fields: for each operation and each object in its answers, what the SDK's type has and what is given.

/** Compares the samples with their types. The compiler has the last word; this is for people to look at. */
export class Survey {
  #declarations;
  /** By operation and kind of object, and by path inside of the object. */
  #objects = new Map();

  constructor(samples, declarations) {
    this.#declarations = declarations;
    samples.forEach(({ operation, body }, number) => {
      // An error is the one thing that does not say what it is.
      this.#look(operation, "error", "", declarations.typeOfSample(number), body);
    });
  }

  /** Notes the fields of `value` and of everything in it. */
  #look(operation, kind, path, declared, value) {
    if (value === null || typeof value !== "object") return;
    const type = this.#declarations.narrow(declared, value);
    if (!type) return; // Metadata, for one, has whatever names the merchant likes.
    if (Array.isArray(value)) {
      for (const element of value) this.#look(operation, kind, `${path}[]`, this.#declarations.elementType(type), element);
      return;
    }
    // An object of the API inside of another one has a row of its own.
    if (typeof value.object === "string") [kind, path] = [value.deleted ? `${value.object}, deleted` : value.object, ""];
    const fields = this.#fieldsOf(operation, kind);
    for (const [name, { isOptional, type: fieldType }] of this.#declarations.fields(type)) {
      const at = path ? `${path}.${name}` : name;
      const field = fields.get(at) ?? { parent: path, name, isOptional, isAlwaysGiven: true, isEverGiven: false };
      field.isAlwaysGiven &&= name in value;
      field.isEverGiven ||= name in value;
      fields.set(at, field);
      // Of what changed there is a part, and never more than that.
      if (name in value && name !== "previous_attributes") this.#look(operation, kind, at, fieldType, value[name]);
    }
  }

  #fieldsOf(operation, kind) {
    const key = JSON.stringify([operation, kind]);
    if (!this.#objects.has(key)) this.#objects.set(key, new Map());
    return this.#objects.get(key);
  }

  toMarkdown(operations) {
    const inOrder = (key) => operations.indexOf(JSON.parse(key)[0]);
    const objects = [...this.#objects].sort(([a], [b]) => inOrder(a) - inOrder(b) || (a < b ? -1 : 1));
    return [
      ...INTRODUCTION,
      "| operation | object | required | given | optional, given | optional, not given |",
      "|---|---|---|---|---|---|",
      ...objects.map(([key, fields]) => row(...JSON.parse(key), [...fields.values()])),
      ...INSIDE,
      "| object | in | optional, not given |",
      "|---|---|---|",
      ...insideRows(objects),
      "",
    ].join("\n");
  }
}

const INTRODUCTION = [
  "# Fields of the simulator's objects",
  "",
  "Made by `npm run fields --prefix tests/sdk`, and compared in the tests. Every operation is called by Stripe's SDK for",
  "Node, so that its answers come in every state that can be brought about, and each answer is compiled by TypeScript",
  "as a literal of the type that the SDK declares for it. A required field that is missing, a field that the type does",
  "not know and a value of a wrong type are errors there; this table only counts. Fields inside of an object count as its",
  "own; an object of the API inside of another one has a row to itself.",
  "",
];

const INSIDE = [
  "",
  "## Inside",
  "",
  "The optional fields that no operation gives, below the first level. Most belong to payment methods other than cards.",
  "",
];

const code = (names) => names.map((name) => `\`${name}\``).join(" ");

function row(operation, kind, fields) {
  const required = fields.filter((field) => !field.isOptional);
  const optional = fields.filter((field) => field.isOptional);
  const notGiven = optional.filter((field) => !field.isEverGiven && field.parent === "").map((field) => field.name);
  const cells = [
    ...[`\`${operation}\``, kind, required.length, required.filter((field) => field.isAlwaysGiven).length],
    ...[optional.filter((field) => field.isEverGiven).length, code(notGiven.sort())],
  ];
  return `| ${cells.join(" | ")} |`;
}

function insideRows(objects) {
  const inside = new Map();
  for (const [key, fields] of objects) {
    const [, kind] = JSON.parse(key);
    for (const field of fields.values()) {
      if (!field.isOptional || field.parent === "") continue;
      const place = `| ${kind} | \`${field.parent}\` |`;
      if (!inside.has(place)) inside.set(place, new Map());
      const isGiven = inside.get(place).get(field.name) || field.isEverGiven;
      inside.get(place).set(field.name, isGiven);
    }
  }
  const notGiven = (names) => [...names].filter(([, isGiven]) => !isGiven).map(([name]) => name).sort();
  return [...inside]
    .map(([place, names]) => [place, notGiven(names)])
    .filter(([, names]) => names.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, names]) => `${place} ${code(names)} |`);
}
