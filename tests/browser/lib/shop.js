// A shop of one's own: the real binary, its simulator beside it, its databases in a temporary folder.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { OPERATOR } from "./operator.js";

const PROGRAM = fileURLToPath(new URL("../../../target/debug/boring-checkout", import.meta.url));
const CONTROL = { authorization: "Bearer sk_test_boring" };

/** More faults than any story has requests: until they are cleared. */
const ALWAYS = 10_000;

/** How many desk lamps a new shop has. Few enough that a cart can ask for more of them. */
export const LAMPS = 12;

export class Shop {
  #folder;
  #process;
  #log = "";

  static async open() {
    const shop = new Shop();
    shop.#folder = await mkdtemp(join(tmpdir(), "boring-shop-"));
    shop.#process = spawn(PROGRAM, [
      ...["--listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0"],
      ...["--database-url", shop.#database, "--provider-database-url", `sqlite://${shop.#folder}/provider.db`],
      ...["--mail-folder", `${shop.#folder}/mail`, "--log", "info"],
      ...["--admin-password", OPERATOR.password],
    ]);
    shop.#process.stderr.on("data", (text) => (shop.#log += text));
    await shop.#isOpen();
    return shop;
  }

  get #database() {
    return `sqlite://${this.#folder}/shop.db`;
  }

  async #isOpen() {
    for await (const line of createInterface(this.#process.stdout)) {
      const [, what, url] = line.match(/^The (Boring Shop|payment provider) is (?:open )?at +(http:\S+)$/) ?? [];
      if (what === "Boring Shop") this.url = url;
      if (what === "payment provider") this.providerUrl = url;
      if (this.url && this.providerUrl) return;
    }
    throw new Error(`the shop did not open:\n${this.#log}`);
  }

  /** Asks it to stop, and expects it to do so in good order. */
  async close() {
    const ended = this.#process.exitCode === null ? once(this.#process, "exit") : [this.#process.exitCode];
    this.#process.kill("SIGTERM");
    const [code] = await ended;
    await rm(this.#folder, { recursive: true });
    if (code !== 0) throw new Error(`the shop ended with ${code}:\n${this.#log}`);
  }

  get log() {
    return this.#log;
  }

  /** How often a form arrived that had been here before. */
  get repeats() {
    return this.#log.split("checkout found again").length - 1;
  }

  /** Arms a fault of the payment provider. */
  async fault(fault) {
    await this.#control("POST", "faults", fault);
  }

  /** The provider goes on charging, and no answer and no webhook arrives any more. */
  async losesTouch() {
    await this.fault({ on: { operation: "payment_intents.create" }, fault: "drop_response", times: ALWAYS });
    await this.losesWebhooks();
  }

  async losesWebhooks() {
    await this.fault({ on: { webhook: "*" }, fault: "drop", times: ALWAYS });
  }

  /** The provider answers again. Webhooks stay lost, so the shop has to ask. */
  async findsTouch() {
    await this.#control("DELETE", "faults");
    await this.losesWebhooks();
  }

  /** By the provider's clock. */
  async timePasses(seconds) {
    await this.#control("POST", "clock", { advance_seconds: seconds });
  }

  /** Its first message was refused ten times. */
  async parks() {
    await this.#alters(`update outbox set published_at = null, parked_at = created_at, attempts = 10,
      last_error = 'refused by a story' where id = 1`);
  }

  /** The provider has a payment that is not in its books. */
  async disagrees() {
    await this.#alters(`insert into discrepancies (id, kind, object_id, checkout_id, detail, created_at)
      select id, 'second_payment', 'pi_other', id, 'the provider has 4900 eur as pi_other', created_at from checkouts`);
  }

  /** A table is gone, until it is there again. */
  async loses(table) {
    await this.#alters(`alter table ${table} rename to lost_${table}`);
  }

  async finds(table) {
    await this.#alters(`alter table lost_${table} rename to ${table}`);
  }

  /** Does something to the database behind the shop's back. */
  async #alters(sql) {
    const alter = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1], timeout=10) as db: db.execute(sys.argv[2])";
    await promisify(execFile)("python3", ["-c", alter, `${this.#folder}/shop.db`, sql]);
  }

  async #control(method, path, body) {
    const answer = await fetch(`${this.providerUrl}/_control/${path}`, {
      method,
      headers: CONTROL,
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** What holds and how much there is, from the shop's database and the provider's ledger. */
  async audit() {
    const flags = ["audit", "--json", "--database-url", this.#database, "--provider-url", this.providerUrl];
    const run = await promisify(execFile)(PROGRAM, flags).catch((failed) => failed);
    if (!run.stdout) throw new Error(`the audit could not look: ${run.stderr}`);
    return { code: run.code ?? 0, ...JSON.parse(run.stdout) };
  }

  /** How many desk lamps are left, as a visitor learns who wants more of them than there are. */
  async lampsLeft() {
    const added = await fetch(`${this.url}/cart/items`, {
      method: "POST",
      body: new URLSearchParams({ sku: "LMP-01", quantity: "99" }),
      redirect: "manual",
    });
    const cookie = added.headers.get("set-cookie").split(";")[0];
    const cart = await fetch(`${this.url}/cart`, { headers: { cookie } });
    return Number((await cart.text()).match(/Only (\d+) are left/)[1]);
  }
}
