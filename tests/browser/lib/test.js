// The stories' `test`: each has a shop of its own, an eye on the console, and ends with the audit.

import { test as base, expect } from "@playwright/test";

import { OPERATOR, Operator } from "./operator.js";
import { LAMPS, Shop } from "./shop.js";
import { Visitor } from "./visitor.js";

export { expect };

export const test = base.extend({
  shop: [async ({}, use, info) => {
    const shop = await Shop.open();
    await use(shop);
    const { code, ...report } = await shop.audit();
    if (info.status !== info.expectedStatus) await info.attach("the shop's log", { body: shop.log });
    await shop.close();
    expect(code, JSON.stringify(report.invariants.filter((invariant) => !invariant.ok))).toBe(0);
  }, { timeout: 20_000 }],

  /** What the browser may complain of in this story. Everything else is a failure. */
  complaints: async ({}, use) => {
    await use({ allowed: [], heard: [] });
  },

  /** It asks for the shop, so that the shop outlives it: a browser may still fetch an icon when a story ends. */
  context: async ({ context, complaints, shop: _ }, use) => {
    listen(context, complaints);
    await use(context);
    expect(complaints.heard.filter((heard) => !complaints.allowed.some((allowed) => allowed.test(heard)))).toEqual([]);
  },

  visitor: async ({ page, shop }, use) => {
    await use(new Visitor(page, shop));
  },

  /** Who runs the shop, with a browser profile of their own. */
  operator: async ({ browser, shop, complaints, javaScriptEnabled }, use) => {
    const context = await browser.newContext({ javaScriptEnabled, httpCredentials: OPERATOR });
    listen(context, complaints);
    await use(new Operator(await context.newPage(), shop));
    await context.close();
  },

  /** Another person, with a browser profile of their own. */
  stranger: async ({ browser, shop, complaints, javaScriptEnabled }, use) => {
    const context = await browser.newContext({ javaScriptEnabled });
    listen(context, complaints);
    await use(new Visitor(await context.newPage(), shop));
    await context.close();
  },
});

/**
 * Hears errors, exceptions and violations of the content security policy. A page that was answered with 4xx is an error
 * to Chromium too; there the story checks what the page says.
 */
function listen(context, { heard }) {
  const pages = new Set();
  context.on("response", (response) => {
    if (response.request().isNavigationRequest() && response.status() < 500) pages.add(response.url());
  });
  context.on("weberror", (error) => heard.push(String(error.error())));
  context.on("console", (message) => {
    const url = message.location().url;
    const isPage = pages.has(url) && message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isPage) heard.push(`${message.text()} ${url}`);
  });
}

/** The end of every story: what there is, counted, and how many lamps were sold or are held. */
export async function expectOf(shop, { checkouts, paid, charged = paid, lamps = paid }) {
  const { code, invariants, counts } = await shop.audit();
  expect(invariants.filter((invariant) => !invariant.ok)).toEqual([]);
  expect(code).toBe(0);
  expect(counts).toMatchObject({ checkouts, paid, orders: paid, payments: paid, provider_succeeded: charged });
  expect(await shop.lampsLeft()).toBe(LAMPS - lamps);
}

/** One charge, one order, one lamp less. */
export async function expectOnePurchase(shop) {
  await expectOf(shop, { checkouts: 1, paid: 1 });
}
