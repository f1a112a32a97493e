// Every page of the shop, and of the payment provider, in every state that somebody can bring about: a name, and how to
// get there.

import { expect } from "@playwright/test";

import { OPERATOR } from "./operator.js";
import { WHO } from "./visitor.js";

async function buys(visitor) {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
}

/** A navigation that is answered with 204 leaves the page as it is, long enough to look at it. */
async function stays(visitor) {
  await visitor.page.route("**/checkouts/*", (route) => route.fulfill({ status: 204 }));
}

/** The mail is written a moment after the purchase. */
async function looksIntoMailbox(visitor) {
  await expect(async () => {
    await visitor.goes("/mailbox");
    await expect(visitor.page.getByRole("link", { name: /^Your order/ })).toBeVisible({ timeout: 100 });
  }).toPass();
}

/** One purchase, and then at the operator's pages with the password. */
async function operates(visitor, path) {
  await buys(visitor);
  await knowsPassword(visitor);
  await visitor.goes(path);
}

/** The form that gives money of one's own purchase back. */
async function opensRefund(visitor) {
  await operates(visitor, "/admin/orders");
  await visitor.page.getByRole("link", { name: /^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/ }).click();
  await visitor.page.getByRole("link", { name: "Give money back" }).click();
  await expect(visitor.heading).toHaveText("Give money back");
}

async function knowsPassword({ page }) {
  const credentials = Buffer.from(`${OPERATOR.username}:${OPERATOR.password}`).toString("base64");
  await page.setExtraHTTPHeaders({ authorization: `Basic ${credentials}` });
}

/** A scenario of the lab, played to its end. */
async function playsInLab(visitor, scenario) {
  await visitor.goes("/lab");
  await visitor.page.getByRole("radio", { name: scenario }).check();
  await visitor.page.getByRole("button", { name: "Play it" }).click();
  await expect(visitor.page.getByRole("heading", { name: "The two ledgers" })).toBeVisible();
}

export const PAGES = {
  catalog: ({ visitor }) => visitor.goes("/"),

  product: ({ visitor }) => visitor.goes("/products/LMP-01"),

  "product: wrong quantity": async ({ visitor }) => {
    await visitor.goes("/products/LMP-01");
    const { page } = visitor;
    await page.locator("form.product-form").evaluate((form) => (form.noValidate = true));
    await page.locator("#quantity").fill("1000");
    await page.getByRole("button", { name: "Add to cart" }).click();
    await expect(page).toHaveTitle(/^Error/);
  },

  "cart: empty": ({ visitor }) => visitor.goes("/cart"),

  cart: async ({ visitor }) => {
    await visitor.goes("/");
    await visitor.putsIntoCart("Grey socks");
    await visitor.putsLampIntoCart();
  },

  "cart: more than there are": async ({ visitor }) => {
    await visitor.putsLampIntoCart();
    await visitor.page.locator(".quantity").fill("50");
    await visitor.page.getByRole("button", { name: "Update" }).click();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "cart: in payment": async ({ visitor, shop }) => {
    await visitor.getsReadyToPay();
    await shop.losesTouch();
    await visitor.pays();
    await visitor.isToldToWait();
    await visitor.goes("/cart");
  },

  checkout: async ({ visitor }) => {
    await visitor.putsLampIntoCart();
    await visitor.opensCheckout();
  },

  "checkout: filled in": async ({ visitor }) => {
    await visitor.goes("/");
    await visitor.putsIntoCart("Grey socks");
    await visitor.getsReadyToPay();
    await visitor.page.locator(":focus").blur();
  },

  "checkout: wrong fields": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.fillsIn({ ...WHO, email: "not an address", name: "" });
    await visitor.page.locator("#country").selectOption("");
    await visitor.pays();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "checkout: after a decline": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.chooses(/9995/);
    await visitor.pays();
    await visitor.page.getByRole("link", { name: "Try again" }).click();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "checkout: the total has changed": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    const tab = await visitor.opensTab();
    await tab.putsLampIntoCart();
    await visitor.pays();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "checkout: too few left": async ({ visitor, stranger }) => {
    await visitor.goes("/products/LMP-01");
    await visitor.page.locator("#quantity").fill("12");
    await visitor.page.getByRole("button", { name: "Add to cart" }).click();
    await visitor.opensCheckout();
    await visitor.fillsIn();
    await buys(stranger);
    await visitor.pays();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "checkout: an earlier purchase is undecided": async ({ visitor, shop }) => {
    await visitor.getsReadyToPay();
    await shop.losesTouch();
    await visitor.pays();
    await visitor.isToldToWait();
    await visitor.putsLampIntoCart();
    await visitor.opensCheckout();
  },

  "checkout: an earlier purchase is not confirmed": async ({ visitor }) => {
    await buys(visitor);
    await visitor.getsReadyToPay();
    await visitor.pays();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "checkout: too many attempts": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.triesInVain(20);
    await visitor.pays();
    await expect(visitor.page.getByRole("alert")).toContainText("more attempts to pay");
  },

  "status: being checked": async ({ visitor, shop }) => {
    await visitor.getsReadyToPay();
    await shop.losesTouch();
    await visitor.pays();
    await visitor.isToldToWait();
    await stays(visitor);
  },

  "status: needs authentication": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.chooses(/3220/);
    await visitor.pays();
    await visitor.isAskedToConfirm();
    await stays(visitor);
  },

  "status: paid": async ({ visitor }) => {
    await buys(visitor);
  },

  "status: declined": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.chooses(/9995/);
    await visitor.pays();
    await expect(visitor.heading).toHaveText("The payment was declined");
  },

  order: async ({ visitor }) => {
    await buys(visitor);
    await visitor.page.getByRole("link", { name: "See your order" }).click();
    await expect(visitor.heading).toHaveText(/^Order /);
  },

  "mailbox: empty": ({ visitor }) => visitor.goes("/mailbox"),

  mailbox: async ({ visitor }) => {
    await buys(visitor);
    await looksIntoMailbox(visitor);
  },

  "mailbox: a mail": async ({ visitor }) => {
    await buys(visitor);
    await looksIntoMailbox(visitor);
    await visitor.page.getByRole("link", { name: /^Your order/ }).click();
    await expect(visitor.heading).toHaveText(/^Your order/);
  },

  "lab: nothing yet": ({ visitor }) => visitor.goes("/lab"),

  lab: async ({ visitor }) => {
    await playsInLab(visitor, /^Webhook twice/);
    await visitor.goes("/lab");
    await visitor.page.getByRole("button", { name: "Let the mail server be down" }).click();
    await expect(visitor.page.getByText("Next:")).toBeVisible();
  },

  "lab: run": ({ visitor }) => playsInLab(visitor, /^Double click/),

  "lab: run, crash": ({ visitor }) => playsInLab(visitor, /^Crash after/),

  "lab: stage, before it begins": async ({ visitor }) => {
    await playsInLab(visitor, /^Last unit/);
    await visitor.page.getByRole("link", { name: "Step by step" }).click();
    await expect(visitor.page.getByText("Nothing has happened yet.")).toHaveCount(2);
  },

  "lab: stage": async ({ visitor }) => {
    await playsInLab(visitor, /^Dropped response/);
    await visitor.page.getByRole("link", { name: "Step by step" }).click();
    await visitor.goes(`${new URL(visitor.page.url()).pathname}?step=10`);
  },

  "lab: stage, verdict": async ({ visitor }) => {
    await playsInLab(visitor, /^Dropped response/);
    await visitor.page.getByRole("link", { name: "Step by step" }).click();
    await visitor.goes(`${new URL(visitor.page.url()).pathname}?step=999`);
  },

  "lab: checkout": async ({ visitor }) => {
    await buys(visitor);
    const path = `/lab${new URL(visitor.page.url()).pathname}`;
    // What comes while one looks makes the page longer, so it has come before.
    await expect(async () => {
      await visitor.goes(path);
      await expect(visitor.page.getByText("mail sent")).toBeVisible({ timeout: 100 });
    }).toPass();
  },

  "lab: source": async ({ visitor }) => {
    await visitor.goes("/lab/src/checkout/submit.rs:150#at");
    await expect(visitor.heading).toHaveText("src/checkout/submit.rs");
  },

  "the bank's question": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.chooses(/3220/);
    await visitor.pays();
    await visitor.isAskedToConfirm();
    await visitor.page.getByRole("link", { name: "Confirm the payment" }).click();
    await expect(visitor.page.getByRole("button", { name: "Approve" })).toBeVisible();
  },

  simulator: async ({ visitor, shop }) => {
    await buys(visitor);
    await shop.losesTouch();
    await visitor.page.goto(shop.providerUrl);
    for (const closed of await visitor.page.locator("details:not([open]) summary").all()) await closed.click();
  },

  "simulator: wrong fields": async ({ visitor, shop }) => {
    const { page } = visitor;
    await page.goto(shop.providerUrl);
    await page.getByLabel("Only at the path").fill("/v1/nothing");
    await page.getByRole("button", { name: "Arm it" }).first().click();
    await expect(page.getByRole("alert")).toHaveText("There is no operation with the path /v1/nothing.");
  },

  "operator: overview": ({ visitor }) => operates(visitor, "/admin"),

  "operator: checkouts": ({ visitor }) => operates(visitor, "/admin/checkouts"),

  "operator: found nothing": ({ visitor }) => operates(visitor, "/admin/checkouts?q=Ada"),

  "operator: story": async ({ visitor }) => {
    await buys(visitor);
    const path = new URL(visitor.page.url()).pathname;
    await knowsPassword(visitor);
    await visitor.goes(`/admin${path}`);
    await expect(visitor.heading).toHaveText("Checkout");
  },

  "operator: order": async ({ visitor }) => {
    await operates(visitor, "/admin/orders");
    await visitor.page.getByRole("link", { name: /^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/ }).click();
    await expect(visitor.heading).toHaveText(/^Order /);
  },

  "operator: no refunds": ({ visitor }) => operates(visitor, "/admin/refunds"),

  "operator: refund": async ({ visitor }) => {
    await opensRefund(visitor);
    await expect(visitor.page.getByRole("button", { name: "Give back" })).toBeVisible();
  },

  "operator: refund, wrong amount": async ({ visitor }) => {
    await opensRefund(visitor);
    await visitor.page.locator("#amount").fill("0.001");
    await visitor.page.getByRole("button", { name: "Give back" }).click();
    await expect(visitor.page).toHaveTitle(/^Error/);
  },

  "operator: refund, given back": async ({ visitor }) => {
    await opensRefund(visitor);
    await visitor.page.getByRole("button", { name: "Give back" }).click();
    await expect(visitor.heading).toHaveText("Given back");
  },

  "operator: customers": ({ visitor }) => operates(visitor, "/admin/customers"),

  "operator: found orders": async ({ visitor }) => {
    await operates(visitor, "/admin/orders");
    await visitor.page.getByRole("searchbox").fill(WHO.email);
    await visitor.page.getByRole("button", { name: "Find" }).click();
    await expect(visitor.page.getByRole("table", { name: "Found" })).toBeVisible();
  },

  "operator: refunds, one": async ({ visitor }) => {
    await opensRefund(visitor);
    await visitor.page.getByRole("button", { name: "Give back" }).click();
    await expect(visitor.heading).toHaveText("Given back");
    await visitor.goes("/admin/refunds");
  },

  "operator: events": ({ visitor }) => operates(visitor, "/admin/events"),

  "operator: outbox": async ({ visitor, shop }) => {
    await operates(visitor, "/admin");
    await shop.parks();
    await visitor.goes("/admin/outbox");
    await expect(visitor.page.getByRole("table", { name: "Parked" }).getByRole("button", { name: /^Try again/ })).toBeVisible();
  },

  "operator: mails": async ({ visitor }) => {
    await operates(visitor, "/admin");
    await expect(async () => {
      await visitor.goes("/admin/mail");
      await expect(visitor.page.getByRole("button", { name: /^Send again/ })).toBeVisible({ timeout: 100 });
    }).toPass();
  },

  "operator: discrepancies": ({ visitor }) => operates(visitor, "/admin/discrepancies"),

  "operator: discrepancy": async ({ visitor, shop }) => {
    await operates(visitor, "/admin");
    await shop.disagrees();
    await visitor.goes("/admin/discrepancies");
    await visitor.page.getByRole("link", { name: "Look into it" }).first().click();
    await visitor.page.getByRole("button", { name: "Resolve" }).click();
    await expect(visitor.page).toHaveTitle(/^Error/);
    await visitor.page.getByLabel("Why it needs nobody any more").fill("It was made up.");
    await visitor.page.getByRole("button", { name: "Resolve" }).click();
    await expect(visitor.page.getByText("It was made up.")).toBeVisible();
  },

  "operator: audit": async ({ visitor }) => {
    await operates(visitor, "/admin/audit");
    await visitor.page.getByRole("button", { name: "Run it" }).click();
    await expect(visitor.page.getByText("stock is conserved")).toBeVisible();
  },

  "operator: not found": ({ visitor }) => operates(visitor, "/admin/nothing/here"),

  "api: documentation": ({ visitor }) => visitor.goes("/api/v1/docs"),

  "error: not found": ({ visitor }) => visitor.goes("/nothing/here"),

  "error: a mistake of ours": async ({ visitor, shop }) => {
    await visitor.putsLampIntoCart();
    await shop.loses("cart_items");
    await visitor.goes("/cart");
    await expect(visitor.heading).toHaveText("Something went wrong here");
    await shop.finds("cart_items");
  },

  "error: a form that was used": async ({ visitor }) => {
    await visitor.getsReadyToPay();
    await visitor.keepsForm();
    await visitor.chooses(/9995/);
    await visitor.pays();
    await expect(visitor.heading).toHaveText("The payment was declined");
    await visitor.page.goBack();
    await visitor.fillsIn();
    await visitor.chooses(/4242/);
    await visitor.pays();
    await expect(visitor.heading).toHaveText("This form was already used");
  },
};
