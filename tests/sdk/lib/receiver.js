// Where the simulator delivers its webhooks in these stories.

import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

import { eventually } from "./simulator.js";

export class Receiver {
  #server;

  /** What arrived, as it arrived: the raw body and its signature. */
  deliveries = [];

  static async open() {
    const receiver = new Receiver();
    receiver.#server = createServer(async (request, response) => {
      const body = await buffer(request);
      receiver.deliveries.push({ body, signature: request.headers["stripe-signature"] });
      response.end();
    });
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    receiver.url = `http://127.0.0.1:${receiver.#server.address().port}/webhooks`;
    return receiver;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The first delivery of this type of event. */
  async waitsFor(type) {
    return eventually(() => this.deliveries.find(({ body }) => body.includes(`"type":"${type}"`)));
  }
}
