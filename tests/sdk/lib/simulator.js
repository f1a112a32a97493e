// A simulator of one's own: the real binary, on a free port, with its ledger in memory.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import Stripe from "stripe";

const PROGRAM = fileURLToPath(new URL("../../../target/debug/boring-checkout", import.meta.url));
export const KEY = "sk_test_boring";

/** More than any story waits for, unless what it waits for never comes. */
const PATIENCE_MS = 10_000;

export class Simulator {
  #process;
  #log = "";

  /** `webhooks` are URL=SECRET, as on the command line. */
  static async start(...webhooks) {
    const simulator = new Simulator();
    simulator.#process = spawn(PROGRAM, [
      ...["provider", "--ephemeral", "--listen", "127.0.0.1:0", "--log", "warn"],
      ...webhooks.flatMap((webhook) => ["--webhook", webhook]),
    ]);
    simulator.#process.stderr.on("data", (text) => (simulator.#log += text));
    for await (const line of createInterface(simulator.#process.stdout)) {
      simulator.url = line.match(/http:\S+$/)?.[0];
      if (simulator.url) return simulator;
    }
    throw new Error(`the simulator did not start:\n${simulator.#log}`);
  }

  /** Asks it to stop, and expects it to do so in good order. */
  async stop() {
    const ended = this.#process.exitCode === null ? once(this.#process, "exit") : [this.#process.exitCode];
    this.#process.kill("SIGTERM");
    const [code] = await ended;
    if (code !== 0) throw new Error(`the simulator ended with ${code}:\n${this.#log}`);
  }

  /** The official SDK, pointed here: the base URL is all that is changed. */
  sdk(config = {}) {
    const { hostname, port } = new URL(this.url);
    return new Stripe(KEY, { protocol: "http", host: hostname, port, ...config });
  }

  /** The levers of the simulator, which no SDK knows. */
  async control(method, path, body) {
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = await fetch(`${this.url}/_control/${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async fault(operation, fault, details = {}) {
    await this.control("POST", "faults", { on: { operation }, fault, ...details });
  }

  /** How many payment intents have been paid. */
  async charges() {
    return (await this.control("GET", "ledger")).payment_intents.succeeded;
  }

  /** What arrived under /v1, oldest first. */
  async requests() {
    return (await this.control("GET", "requests")).data.reverse();
  }

  /** The names of all its operations, which it tells whoever gets one wrong. */
  async operations() {
    const body = JSON.stringify({ on: { operation: "?" }, fault: "hang" });
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = await fetch(`${this.url}/_control/faults`, { method: "POST", headers, body });
    const { error } = await answer.json();
    return error.message.match(/\w+\.\w+/g);
  }

  /** The customer presses a button on the bank's page, and is sent on to the URL that is returned. */
  async customer(url, verdict) {
    const answer = await fetch(url, { method: "POST", body: new URLSearchParams({ verdict }), redirect: "manual" });
    return answer.headers.get("location");
  }
}

/** Waits for `found` to return something, and returns it. */
export async function eventually(found) {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const it = await found();
    if (it) return it;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error(`not in ${PATIENCE_MS} ms`);
}
