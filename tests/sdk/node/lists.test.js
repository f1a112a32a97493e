// Lists, page after page, as the SDK walks them.

import { deepEqual, equal, ok } from "node:assert/strict";

import { LAMP, lamp, story } from "../lib/story.js";

const INTENTS = 7;

/** The ids of some new intents, oldest first. */
async function makeIntents(stripe) {
  const made = [];
  for (let count = 0; count < INTENTS; count++) made.push((await stripe.paymentIntents.create(LAMP)).id);
  return made;
}

async function all(pages) {
  const objects = [];
  for await (const object of pages) objects.push(object);
  return objects;
}

const ids = (objects) => objects.map((object) => object.id);

story("a page is newest first and says that there is more", async ({ stripe }) => {
  const made = await makeIntents(stripe);
  const page = await stripe.paymentIntents.list({ limit: 3 });
  deepEqual(ids(page.data), made.toReversed().slice(0, 3));
  ok(page.has_more);
  equal(page.url, "/v1/payment_intents");
});

story("all pages forwards", async ({ stripe, simulator }) => {
  const made = await makeIntents(stripe);
  deepEqual(ids(await all(stripe.paymentIntents.list({ limit: 3 }))), made.toReversed());
  const pages = (await simulator.requests()).filter((request) => request.method === "GET");
  equal(pages.length, 3);
});

story("all pages backwards end with the newest", async ({ stripe }) => {
  const made = await makeIntents(stripe);
  const pages = stripe.paymentIntents.list({ limit: 3, ending_before: made[0] });
  deepEqual(ids(await all(pages)), made.slice(1));
});

story("all events of a type", async ({ stripe, simulator }) => {
  const made = await makeIntents(stripe);
  await stripe.paymentIntents.create(lamp());
  await simulator.control("POST", "settle", {});
  const created = await all(stripe.events.list({ type: "payment_intent.created", limit: 3 }));
  deepEqual(ids(created.map((event) => event.data.object)).slice(1), made.toReversed());
  const every = (await all(stripe.events.list({ limit: 2 }))).map((event) => event.type);
  equal(every.length, INTENTS + 4);
  ok(every.includes("charge.succeeded") && every.includes("payment_intent.succeeded"));
});

story("the charges of an intent", async ({ stripe }) => {
  await stripe.paymentIntents.create(lamp());
  const intent = await stripe.paymentIntents.create(lamp());
  const charges = await stripe.charges.list({ payment_intent: intent.id });
  deepEqual(ids(charges.data), [intent.latest_charge]);
});
